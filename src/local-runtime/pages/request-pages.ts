import {html} from 'hono/html';
import prettyBytes from 'pretty-bytes';
import {mayNameSecret} from '../../http/redact.js';
import {HttpFailure} from '../answer.js';
import {param, type AdmittedCall} from '../context.js';
import {masked, maskedPairs, type LoggedRequest} from '../request-log.js';
import {facts, foreign, liveSection, pageAnswer, pagesPath, table, textBlock, timeText, type Html} from './page.js';

const path = `${pagesPath}requests`;

/** The newest requests: the wire. */
export function showRequests({context: {log, mask}}: AdmittedCall): Promise<Response> {
  const requests = table('Requests, newest first', {
    columns: ['Request', 'Status', 'Duration', 'Received', 'Sent', 'Fault', 'At'],
    rows: log.requests.map((request) => [
      html`<a href="${path}/${request.number}">${foreign(mask(`${request.method} ${request.path}`))}</a>`,
      statusText(request),
      durationText(request),
      prettyBytes(request.bytesReceived),
      prettyBytes(request.bytesSent),
      faultNames(request),
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

function durationText({durationMs}: LoggedRequest): string {
  return `${durationMs.toLocaleString('en-US')} ms`;
}

function faultNames({appliedFaults}: LoggedRequest): Html {
  return html`<code>${appliedFaults.join(' ') || '–'}</code>`;
}

/** The page of a request. */
export function showRequest(call: AdmittedCall): Promise<Response> {
  const {log, mask} = call.context;
  const number = Number(param(call, 'number'));
  const request = log.requests.find((one) => one.number === number);
  if (!request) throw new HttpFailure(404, 'This request is not kept: the runtime only keeps the newest ones.');
  const {requestParts, bytesReceived, bytesSent} = request;
  const headers = (list: LoggedRequest['requestHeaders']) =>
    facts(list.map(([name, value]) => [name, html`<code>${mask(value)}</code>`] as const));
  const body = (of: string, text: string | undefined, bytes: number): Html => {
    if (text === undefined || text === '') return html`<p>${bytes === 0 || text === '' ? 'Empty.' : 'Not shown.'}</p>`;
    return textBlock(`Body of the ${of}`, mask(readable(text)));
  };
  const parts = table('Parts of the upload', {
    columns: ['Part', 'Size'],
    rows: requestParts.map(({name, bytes}) => [foreign(name), prettyBytes(bytes)]),
  });
  const summary = facts([
    ['Path', html`<code>${mask(`${request.path}${request.search}`)}</code>`],
    ['Status', statusText(request)],
    ['Kind', request.route ?? 'Nothing is served there'],
    ['At', html`${timeText(request.at)}, ${durationText(request)}`],
    ['Fault', faultNames(request)],
  ]);
  const content = html`${summary}
<h2>Request</h2>
${headers(request.requestHeaders)}
<h3>Body, ${prettyBytes(bytesReceived)}</h3>
${requestParts.length === 0 ? body('request', request.requestBody, bytesReceived) : parts}
<h2>Response</h2>
${headers(request.responseHeaders)}
<h3>Body</h3>
${body('response', request.responseBody, bytesSent)}`;
  return pageAnswer({title: `${request.method} request ${number}`, place: 'Requests', content});
}

/** JSON with its members below each other, or a form, without credentials. */
function readable(text: string): string {
  try {
    const withoutSecrets = (name: string, value: unknown) => (mayNameSecret(name) && value !== null ? masked : value);
    return JSON.stringify(JSON.parse(text), withoutSecrets, 2);
  } catch {
    return maskedPairs(text);
  }
}
