import {html} from 'hono/html';
import prettyBytes from 'pretty-bytes';
import type {Call, LoggedRequest} from '../context.js';
import {faultText} from '../faults.js';
import {foreign, liveSection, pageAnswer, table, timeText, type Html} from './page.js';

const shown = 200;

export function showRequests({context: {requests: all, mask}}: Call): Promise<Response> {
  const requests = table('Requests, newest first', {
    columns: ['Request', 'Status', 'Duration', 'Received', 'Fault', 'At'],
    rows: all
      .slice(-shown)
      .toReversed()
      .map((request) => [
        foreign(mask(`${request.method} ${request.path}`)),
        statusText(request),
        `${request.durationMs.toLocaleString('en-US')} ms`,
        prettyBytes(request.bytesReceived),
        html`<code>${request.faults.map(faultText).join(' ') || '–'}</code>`,
        timeText(request.at),
      ]),
    empty: 'No requests yet. Requests to the API and to apps appear here once they are answered.',
  });
  return pageAnswer({title: 'Requests', place: 'Requests', content: liveSection('Newest requests', requests)});
}

function statusText({status}: LoggedRequest): Html {
  const name = status === 0 ? 'No answer' : status;
  return html`<span class="state ${status === 0 || status >= 400 ? 'failed' : 'live'}">${name}</span>`;
}
