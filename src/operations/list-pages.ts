import type {ListRange, ListResult} from '../backends/contract.js';
import {createError} from '../errors/index.js';

/** What servers give at most at a time. */
const pageSize = 200;

/**
 * The pages of a list from `offset` on, until there are `limit` items (`Infinity`: all) or no more. A server may give
 * fewer at a time than it is asked for.
 */
export async function* listPages<Item>(
  {limit, offset}: ListRange,
  fetchPage: (range: ListRange) => Promise<ListResult<Item>>,
): AsyncGenerator<ListResult<Item>, void, undefined> {
  for (let count = 0; count < limit;) {
    const asked = Math.min(pageSize, limit - count);
    const page = await fetchPage({limit: asked, offset: offset + count});
    const items = page.items.slice(0, asked);
    count += items.length;
    yield {...page, items};
    const isLast = page.total === undefined ? items.length < asked : offset + count >= page.total;
    if (isLast || items.length === 0) return;
  }
}

/** All items of `range`, the newest first, and how long the whole list is when the server tells. */
export async function collectPages<Item extends {readonly createdAt?: string | undefined}>(
  range: ListRange,
  fetchPage: (range: ListRange) => Promise<ListResult<Item>>,
): Promise<{readonly items: readonly Item[]; readonly total?: number | undefined}> {
  const items: Item[] = [];
  let total: number | undefined;
  for await (const page of listPages(range, fetchPage)) {
    items.push(...page.items);
    total = page.total;
  }
  return {items: items.sort((a, b) => createdTime(b) - createdTime(a)), total};
}

/** When an item came into being, as a number that can be compared; 0 when it does not tell. */
export function createdTime({createdAt}: {readonly createdAt?: string | undefined}): number {
  return Date.parse(createdAt ?? '') || 0;
}

/**
 * The range that a caller asks for.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` for a limit below 1, an offset below 0, or a fraction.
 */
export function listRange({
  limit = 25,
  offset = 0,
}: {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}): ListRange {
  const isLimit = limit === Number.POSITIVE_INFINITY || (Number.isSafeInteger(limit) && limit >= 1);
  if (!isLimit) throw createError('ERR_OPTION_INVALID', `limit must be a whole number above 0, not ${String(limit)}`);
  if (Number.isSafeInteger(offset) && offset >= 0) return {limit, offset};
  throw createError('ERR_OPTION_INVALID', `offset must be a whole number, 0 or more, not ${String(offset)}`);
}
