import {html} from 'hono/html';
import prettyBytes from 'pretty-bytes';
import {mayNameSecret} from '../../http/redact.js';
import {HttpFailure} from '../answer.js';
import {param, type AdmittedCall} from '../context.js';
import {masked, maskedPairs, type LoggedRequest} from '../request-log.js';
import {facts, foreign, pageAnswer, pagesPath, table, textBlock, timeText, type Html} from './page.js';

const path = `${pagesPath}requests`;

/** The newest requests: the wire. */
export function showRequests({context: {log, mask}}: AdmittedCall): Promise<Response> {
  const requests = table('Requests, newest first', {
    titles: ['Request', 'Status', 'Duration', 'Received', 'Sent', 'Fault', 'At'],
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
  const content = html`<div id="requests" data-live>${requests}</div>`;
  return pageAnswer({title: 'Requests', place: 'Requests', content});
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
  const headers = (list: LoggedRequest['requestHeaders']) =>
    facts(list.map(([name, value]) => [name, html`<code>${mask(value)}</code>`] as const));
  const content = html`${facts([
      ['Path', html`<code>${mask(`${request.path}${request.search}`)}</code>`],
      ['Status', statusText(request)],
      ['Kind', request.route ?? 'Nothing is served there'],
      ['At', html`${timeText(request.at)}, ${durationText(request)}`],
      ['Fault', faultNames(request)],
    ])}
    <h2>Request</h2>
    ${headers(request.requestHeaders)}
    <h3>Body, ${prettyBytes(request.bytesReceived)}</h3>
    ${
  request.requestParts.length === 0
    ? bodyText('request', {body: request.requestBody, bytes: request.bytesReceived, mask})
    : table('Parts of the upload', {
        titles: ['Part', 'Size'],
        rows: request.requestParts.map(({name, bytes}) => [foreign(name), prettyBytes(bytes)]),
      })
}
    <h2>Response</h2>
    ${headers(request.responseHeaders)}
    <h3>Body</h3>
    ${bodyText('response', {body: request.responseBody, bytes: request.bytesSent, mask})}`;
  return pageAnswer({title: `${request.method} request ${number}`, place: 'Requests', content});
}

function bodyText(
  of: string,
  {body, bytes, mask}: {readonly body: string | undefined; readonly bytes: number; mask(text: string): string},
): Html {
  if (body === undefined || body === '') return html`<p>${body === '' || bytes === 0 ? 'Empty.' : 'Not shown.'}</p>`;
  return textBlock(`Body of the ${of}`, mask(readable(body)));
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
