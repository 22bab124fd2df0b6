import type {ListRange, ListResult} from '../backends/contract.js';
import {createError} from '../errors/index.js';

/** What servers give at most at a time. */
const pageSize = 200;

/** How many pages of a list are read at most: a server can make up new ones for ever. */
const maxPages = 1000;

/**
 * The pages of a list from `offset` on, until there are `limit` items (`Infinity`: all) or no more. A server may give
 * fewer at a time than it is asked for, or all at once.
 * @throws RuntimeCliError `ERR_RESPONSE_INVALID` when the server gives a part again, and there should be more, and when
 * there is more after 1,000 pages.
 */
export async function* listPages<Item>(
  {limit, offset}: ListRange,
  fetchPage: (range: ListRange) => Promise<ListResult<Item>>,
): AsyncGenerator<ListResult<Item>, void, undefined> {
  const begins = new Set<string>();
  let wasWhole = false;
  for (let count = 0, pages = 0; count < limit; pages += 1) {
    if (pages === maxPages) throw endlessList(offset + count);
    const asked = Math.min(pageSize, limit - count);
    const page = await fetchPage({limit: asked, offset: offset + count});
    if (page.items.length === 0) return yield page;
    const begin = JSON.stringify(page.items[0]);
    if (begins.has(begin) && wasWhole) return;
    if (begins.has(begin)) throw repeatedPage(offset + count, page.total);
    begins.add(begin);
    // Who gives more than was asked for knows no pages.
    wasWhole = page.items.length > asked && page.total === undefined;
    const items = page.items.slice(0, limit - count);
    count += items.length;
    yield {...page, items};
    const isLast = page.total === undefined ? items.length < asked : offset + count >= page.total;
    if (isLast) return;
  }
}

/** What is known would be told as if it were all. */
function repeatedPage(offset: number, total: number | undefined): Error {
  const all = total === undefined ? '' : ` of ${String(total)}`;
  return createError(
    'ERR_RESPONSE_INVALID',
    `the server gives the same part of the list for every offset: what follows the first ${String(offset)}${all} is not known`,
    {suggestions: ['List fewer with --limit. Name a bundle by its id instead of "latest".'], details: {offset, total}},
  );
}

function endlessList(offset: number): Error {
  return createError(
    'ERR_RESPONSE_INVALID',
    `the list has no end: ${String(maxPages)} pages were read, up to item ${String(offset)}, and there are more`,
    {
      suggestions: ['List a part with --limit and --offset. Name a bundle by its id instead of "latest".'],
      details: {offset},
    },
  );
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
