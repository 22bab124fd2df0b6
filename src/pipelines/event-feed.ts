import type {RuntimeEvent} from '../operations/events.js';
import {isRecord} from '../text/json.js';
import type {EventBody} from './host.js';

/** A time that many milliseconds after `now`, ISO 8601. */
export function timeIn(now: Date, ms: number): string {
  return new Date(now.getTime() + ms).toISOString();
}

/** An event without the value of an access header, which must not be kept in a log. */
function withoutAccess(body: EventBody): EventBody {
  if (body.type !== 'outcome' || body.status !== 'success' || !isRecord(body.result)) return body;
  const {access: _, ...result} = body.result;
  return {...body, result};
}

/** Numbers the events of a run, up to its outcome. `onEvent` must not throw. */
export function createEventFeed(onEvent: (event: RuntimeEvent) => void, now = () => new Date()) {
  let sequence = 0;
  let ended = false;
  return (body: EventBody) => {
    if (ended) return;
    ended = body.type === 'outcome';
    sequence += 1;
    onEvent({version: 1, sequence, time: timeIn(now(), 0), ...withoutAccess(body)});
  };
}
