/** How many requests are under way at once: enough for a far service, few enough for its rate limit. */
const most = 4;

/** Works on at most four items at once. After a failure, nothing more is begun, and what was begun is awaited. */
export async function sideBySide<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const left = [...items.entries()];
  const failures: unknown[] = [];
  const goOn = async () => {
    for (let next = left.shift(); next !== undefined && failures.length === 0; next = left.shift()) {
      const [index, item] = next;
      await work(item).then(
        (result) => (results[index] = result),
        (error: unknown) => failures.push(error),
      );
    }
  };
  await Promise.all(Array.from({length: most}, goOn));
  if (failures.length > 0) throw failures[0];
  return results;
}
