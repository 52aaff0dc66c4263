// What a link asks for, and what of it this report has.

/**
 * The shelf and the place that an address can be given, and complaints of what it cannot.
 *
 * @returns {{shelf: Object, place: Object, complaints: string[]}}
 */
function answerable(asked, shelves) {
  const complaints = [];
  if (asked.broken) complaints.push("The link cannot be read: it is cut short or altered.");
  let shelf = shelves.find((one) => one.audit === asked.audit);
  if (!shelf) {
    if (asked.audit) complaints.push(`This report has no items of an audit “${asked.audit}”.`);
    [shelf] = shelves;
  }
  const lost = !asked.broken && shelf.audit !== asked.audit && asked.audit;
  const place = lost ? placeOf(shelf.audit) : { ...asked, audit: shelf.audit };
  for (const name of [...place.filters.keys()]) {
    if (shelf.facets.some((facet) => facet.name === name)) continue;
    complaints.push(
      `The link asks for “${name}: ${place.filters.get(name)}”, which the ${shelf.title} of `
      + "this report do not record; that part is left out.",
    );
    place.filters.delete(name);
  }
  const orders = ["worst", "id", ...shelf.numbers.flatMap(({ name }) => [name, `-${name}`])];
  if (!orders.includes(place.sort)) {
    complaints.push(`The link asks for an order “${place.sort}” that there is not.`);
    place.sort = "worst";
  }
  return { shelf, place, complaints };
}

/** Why an item that a link names is not shown. */
function missingWords(shelf, held, id) {
  const why = held < shelf.total
    ? "This file holds only some of the run's items; or the link belongs to another run."
    : "The link may belong to another run.";
  return `There is no item “${id}” among the ${shelf.title} of this report. ${why}`;
}
