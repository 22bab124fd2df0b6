import type {RuntimeEvent} from '../operations/events.js';
import type {EventBody} from './host.js';

/** A time that many milliseconds after `now`, ISO 8601. */
export function timeIn(now: Date, ms: number): string {
  return new Date(now.getTime() + ms).toISOString();
}

/** Numbers the events of a run, up to its outcome. `onEvent` must not throw. */
export function createEventFeed(onEvent: (event: RuntimeEvent) => void, now: () => Date): (body: EventBody) => void {
  let sequence = 0;
  let ended = false;
  return (body) => {
    if (ended) return;
    ended = body.type === 'outcome';
    sequence += 1;
    onEvent({version: 1, sequence, time: timeIn(now(), 0), ...body});
  };
}
