import prettyBytes from 'pretty-bytes';
import {mayNameSecret} from '../../http/redact.js';
import {HttpFailure} from '../answer.js';
import {param, type AdmittedCall, type RuntimeContext} from '../context.js';
import {masked, maskedPairs, type LoggedRequest} from '../request-log.js';
import {foreign, markup, table, type Html} from './html.js';
import {pageAnswer, pagesPath} from './page.js';
import {timeText} from './parts.js';

const path = `${pagesPath}requests`;

const filters: Readonly<Record<string, (request: LoggedRequest) => boolean>> = {
  All: () => true,
  API: ({isForApp}) => !isForApp,
  Apps: ({isForApp}) => isForApp,
  Problems: ({status, appliedFaults}) => status === 0 || status >= 400 || appliedFaults.length > 0,
};

/** The newest requests: the wire. */
export function showRequests({context, query}: AdmittedCall): Response {
  const asked = query.get('show') ?? '';
  const shown = Object.keys(filters).find((name) => name.toLowerCase() === asked) ?? 'All';
  const requests = context.log.requests.filter(filters[shown] ?? (() => true));
  const links = Object.keys(filters).map((name) => {
    const current = name === shown ? markup` aria-current="true"` : undefined;
    return markup`<li><a href="${path}?show=${name.toLowerCase()}"${current}>${name}</a></li>`;
  });
  const content = markup`<nav class="filters" aria-label="Show"><ul>${links}</ul></nav>
<div id="requests" data-live>
${
  requests.length === 0
    ? markup`<p>No requests yet. Requests to the API and to apps appear here once they are answered.</p>`
    : requestTable('Requests, newest first', requests, context)
}
</div>`;
  return pageAnswer({title: 'Requests', place: 'Requests', content});
}

/** A table of requests. */
export function requestTable(caption: string, requests: readonly LoggedRequest[], {mask}: RuntimeContext): Html {
  const columns = {
    Request: ({number, method, path: asked}: LoggedRequest) =>
      markup`<a class="path" href="${path}/${number}">${foreign(mask(`${method} ${asked}`), 120)}</a>`,
    Status: statusText,
    Duration: ({durationMs}: LoggedRequest) => `${durationMs.toLocaleString('en-US')} ms`,
    Received: ({bytesReceived}: LoggedRequest) => prettyBytes(bytesReceived),
    Sent: ({bytesSent}: LoggedRequest) => prettyBytes(bytesSent),
    Fault: faultNames,
    At: ({at}: LoggedRequest) => timeText(at),
  };
  return table(
    caption,
    Object.entries(columns).map(([title, cell]) => ({title, cell})),
    requests,
  );
}

function statusText({status}: LoggedRequest): Html {
  if (status === 0) return markup`<span class="status bad">No answer</span>`;
  const kind = status >= 400 ? 'bad' : status >= 300 ? 'odd' : 'good';
  return markup`<span class="status ${kind}">${status}</span>`;
}

function faultNames({appliedFaults}: LoggedRequest): Html | string {
  return appliedFaults.length === 0 ? '–' : markup`<code>${appliedFaults.join(' ')}</code>`;
}

/** The page of a request. */
export function showRequest(call: AdmittedCall): Response {
  const {log, mask} = call.context;
  const number = Number(param(call, 'number'));
  const request = log.requests.find((one) => one.number === number);
  if (!request) throw new HttpFailure(404, 'This request is not kept: the runtime only keeps the newest ones.');
  const {requestParts, requestBody, responseBody, bytesReceived, bytesSent} = request;
  const content = markup`<dl class="facts">
<dt>Path</dt><dd><code><bdi>${mask(`${request.path}${request.search}`)}</bdi></code></dd>
<dt>Status</dt><dd>${statusText(request)}</dd>
<dt>Kind</dt><dd>${request.route ?? 'Nothing is served there'}</dd>
<dt>At</dt><dd>${timeText(request.at)}, ${request.durationMs.toLocaleString('en-US')} ms</dd>
<dt>Fault</dt><dd>${faultNames(request)}</dd>
</dl>
<h2>Request</h2>
${headerList(request.requestHeaders, mask)}
<h3>Body, ${prettyBytes(bytesReceived)}</h3>
${
  requestParts.length === 0
    ? bodyText('request', requestBody, bytesReceived, mask)
    : table(
        'Parts of the upload',
        [
          {title: 'Part', cell: ({name}) => foreign(name, 100)},
          {title: 'Size', isNumber: true, cell: ({bytes}) => prettyBytes(bytes)},
        ],
        requestParts,
      )
}
<h2>Response</h2>
${
  request.status === 0
    ? markup`<p>The connection ended without one.</p>`
    : markup`${headerList(request.responseHeaders, mask)}
<h3>Body</h3>
${bodyText('response', responseBody, bytesSent, mask)}`
}`;
  const parents = [{name: 'Requests', path}];
  return pageAnswer({title: `${request.method} request ${number}`, place: 'Requests', parents, content});
}

function headerList(headers: LoggedRequest['requestHeaders'], mask: (text: string) => string): Html {
  return markup`<dl class="facts headers">
${headers.map(([name, value]) => markup`<dt><code>${name}</code></dt><dd><code><bdi>${mask(value)}</bdi></code></dd>`)}
</dl>`;
}

function bodyText(of: string, body: string | undefined, bytes: number, mask: (text: string) => string): Html {
  if (body === undefined) return markup`<p>${bytes === 0 ? 'Empty.' : 'Not shown.'}</p>`;
  if (body === '') return markup`<p>Empty.</p>`;
  return markup`<pre tabindex="0" role="region" aria-label="Body of the ${of}">${mask(readable(body))}</pre>`;
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
