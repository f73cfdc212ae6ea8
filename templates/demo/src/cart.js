/** Sum of the prices in a cart, in cents. */
export function total(items) {
  return items.map((item) => item.cents * item.count).reduce((sum, cents) => sum + cents);
}
