/** Items whose name holds the words. */
export function search(items, words) {
  return items.filter((item) => item.name.includes(words));
}
