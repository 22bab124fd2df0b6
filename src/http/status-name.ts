import {STATUS_CODES} from 'node:http';

/** A status in words: `429 Too Many Requests`. The standard ones: what a server says there may be anything, a secret too. */
export function statusName(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trim();
}
