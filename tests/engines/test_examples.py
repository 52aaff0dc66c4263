"""The cluster files of the examples are what Ray and KubeRay read; neither was run on a cloud."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = Path(__file__).parents[2] / "examples" / "ray"


def documents(name: str) -> list[Any]:
    return list(yaml.safe_load_all((FOLDER / name).read_text(encoding="utf-8")))


def test_the_cluster_file_fits_the_schema_of_rays_launcher():
    ray = pytest.importorskip("ray")
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(
        (Path(ray.__file__).parent / "autoscaler" / "ray-schema.json").read_text(encoding="utf-8")
    )
    (cluster,) = documents("cluster.yaml")
    jsonschema.validate(cluster, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**cluster, "max_wrokers": 4}, schema)
    assert cluster["head_node_type"] in cluster["available_node_types"]


NAME = {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63}
QUANTITY = {"type": "string", "pattern": r"^[0-9]+(m|Mi|Gi)?$"}
QUANTITIES = {
    "type": "object",
    "propertyNames": {"enum": ["cpu", "memory", "nvidia.com/gpu"]},
    "additionalProperties": QUANTITY,
}


def only(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    """An object with these properties and no others."""
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


def many(one: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": one, "minItems": 1}


# The fields of KubeRay's RayCluster (ray.io/v1) and of a pod that the example uses.
ENVIRONMENT = {
    "oneOf": [
        only({"name": {"type": "string"}, "value": {"type": "string"}}),
        only(
            {
                "name": {"type": "string"},
                "valueFrom": only(
                    {"secretKeyRef": only({"name": NAME, "key": {"type": "string"}})}
                ),
            }
        ),
    ]
}
CONTAINER = only(
    {"name": NAME, "image": {"type": "string"}},
    env=many(ENVIRONMENT),
    resources=only({"requests": QUANTITIES, "limits": QUANTITIES}),
    volumeMounts=many(only({"name": NAME, "mountPath": {"type": "string", "pattern": "^/"}})),
)
TEMPLATE = only(
    {
        "spec": only(
            {"containers": many(CONTAINER)},
            volumes=many(only({"name": NAME, "persistentVolumeClaim": only({"claimName": NAME})})),
        )
    }
)
START = {"type": "object", "additionalProperties": {"type": "string"}}
COUNT = {"type": "integer", "minimum": 0}
RAY_CLUSTER = only(
    {
        "apiVersion": {"const": "ray.io/v1"},
        "kind": {"const": "RayCluster"},
        "metadata": only({"name": NAME}),
        "spec": only(
            {
                "headGroupSpec": only({"rayStartParams": START, "template": TEMPLATE}),
                "workerGroupSpecs": many(
                    only(
                        {
                            "groupName": NAME,
                            "replicas": COUNT,
                            "minReplicas": COUNT,
                            "maxReplicas": COUNT,
                            "rayStartParams": START,
                            "template": TEMPLATE,
                        }
                    )
                ),
            },
            rayVersion={"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
            enableInTreeAutoscaling={"type": "boolean"},
        ),
    }
)


def test_the_kuberay_file_has_the_fields_of_a_ray_cluster():
    jsonschema = pytest.importorskip("jsonschema")
    claim, cluster = documents("kuberay.yaml")
    jsonschema.validate(cluster, RAY_CLUSTER)
    assert claim["kind"] == "PersistentVolumeClaim"
    head = cluster["spec"]["headGroupSpec"]["template"]["spec"]
    assert head["volumes"][0]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    for group in cluster["spec"]["workerGroupSpecs"]:
        assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]


@pytest.mark.parametrize("name", ["cluster.yaml", "kuberay.yaml"])
def test_no_example_holds_a_key_and_each_says_that_it_is_untested(name):
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert "not tested on a" in text
    assert "sk-" not in text
