// Places in the explorer as they stand behind the # of an address:
//   #items/flex?category=persona_injection&flagged=yes&q=word&sort=-margin&page=2
//   #item/flex/ID?…                    one item, in the list that the rest of the address makes

/** Without half surrogate pairs, which an address cannot hold. */
function wellFormed(text) {
  return text.replace(/\p{Cs}/gu, "\ufffd");
}

function encoded(text) {
  return encodeURIComponent(wellFormed(text));
}

function placeOf(audit, given = {}) {
  return {
    audit, id: null, filters: new Map(), flagged: false, words: "", sort: "worst", page: 1,
    ...given,
  };
}

/**
 * The place that an address names: null where it is none of the explorer's, `broken` where it
 * cannot be read.
 */
function readPlace(hash) {
  const found = /^#(items|item)(?:\/([^/?]*)(?:\/([^?]*))?)?(?:\?(.*))?$/s.exec(hash);
  if (!found) return null;
  const [, kind, audit = "", id, query = ""] = found;
  const place = placeOf("");
  try {
    place.audit = decodeURIComponent(audit);
    if (kind === "item") place.id = decodeURIComponent(id ?? "");
  } catch {
    return { ...place, broken: true };
  }
  for (const [name, value] of new URLSearchParams(query)) {
    if (name === "q") place.words = value;
    else if (name === "sort") place.sort = value;
    else if (name === "page") place.page = Math.max(1, Math.floor(Number(value)) || 1);
    else if (name === "flagged") place.flagged = value === "yes";
    else place.filters.set(name, value);
  }
  return place;
}

function writePlace(place) {
  const parts = [...place.filters].map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  if (place.flagged) parts.push("flagged=yes");
  if (place.words) parts.push(`q=${encoded(place.words)}`);
  if (place.sort !== "worst") parts.push(`sort=${encoded(place.sort)}`);
  if (place.page > 1) parts.push(`page=${place.page}`);
  const start = place.id === null
    ? `#items/${encoded(place.audit)}`
    : `#item/${encoded(place.audit)}/${encoded(place.id)}`;
  return start + (parts.length ? `?${parts.join("&")}` : "");
}

/** The address that leads to one item from anywhere. */
function itemLink(audit, id) {
  return writePlace(placeOf(audit, { id }));
}

function sameList(one, other) {
  return Boolean(one && other)
    && writePlace({ ...one, id: null }) === writePlace({ ...other, id: null });
}
