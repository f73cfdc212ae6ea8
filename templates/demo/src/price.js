/** A price for people: 1250 → "12.5 EUR". */
export function price(cents) {
  return `${cents / 100} EUR`;
}
