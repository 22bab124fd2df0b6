import {markup, type Html} from '../../html/html.js';
import {renderTable} from '../../html/page.js';
import {HttpFailure} from '../answer.js';
import {param, type AdmittedCall, type RuntimeContext} from '../context.js';
import {mayNameSecret} from '../../http/redact.js';
import {masked, maskedPairs, type Excerpt, type LoggedRequest} from '../request-log.js';
import {bytesText, foreign, maskOf, timeText} from './elements.js';
import {pageAnswer, pagesPath} from './page-frame.js';

const filters = {
  all: {name: 'All', shows: () => true},
  api: {name: 'API', shows: ({isForApp}) => !isForApp},
  apps: {name: 'Apps', shows: ({isForApp}) => isForApp},
  problems: {
    name: 'Problems',
    shows: ({status, appliedFaults}) => status === 0 || status >= 400 || appliedFaults.length > 0,
  },
} as const satisfies Readonly<Record<string, {name: string; shows(request: LoggedRequest): boolean}>>;

const isFilter = (name: string): name is keyof typeof filters => Object.hasOwn(filters, name);

/** The newest requests: the wire. */
export function showRequests({context, query}: AdmittedCall): Response {
  const asked = query.get('show') ?? 'all';
  const filter = isFilter(asked) ? asked : 'all';
  const requests = context.log.requests.filter(filters[filter].shows);
  const content = markup`<nav class="filters" aria-label="Show">
      <ul>
        ${Object.entries(filters).map(
          ([key, {name}]) =>
            markup`<li><a href="${pagesPath}requests?show=${key}"${key === filter ? markup` aria-current="true"` : undefined}>${name}</a></li>`,
        )}
      </ul>
    </nav>
    <div id="requests" class="wire" data-live>
      ${
        requests.length === 0
          ? markup`<p>No requests yet. Requests to the API and to apps appear here once they are answered.</p>`
          : requestTable('Requests, newest first', requests, context)
      }
    </div>`;
  return pageAnswer({title: 'Requests', place: 'Requests', content, topics: ['requests']});
}

/** A table of requests. */
export function requestTable(caption: string, requests: readonly LoggedRequest[], context: RuntimeContext): Html {
  const mask = maskOf(context);
  return renderTable(
    caption,
    [
      {
        title: 'Request',
        cell: ({number, method, path}) =>
          markup`<a class="path" href="${pagesPath}requests/${String(number)}">${foreign(mask(`${method} ${path}`), 120)}</a>`,
      },
      {title: 'Status', cell: statusText},
      {title: 'Duration', isNumber: true, cell: ({durationMs}) => `${durationMs.toLocaleString('en-US')} ms`},
      {title: 'Received', isNumber: true, cell: ({bytesReceived}) => bytesText(bytesReceived)},
      {title: 'Sent', isNumber: true, cell: ({bytesSent}) => bytesText(bytesSent)},
      {title: 'Fault', cell: ({appliedFaults}) => (appliedFaults.length === 0 ? '–' : faultNames(appliedFaults))},
      {title: 'At', cell: ({at}) => timeText(at)},
    ],
    requests,
  );
}

function statusText({status}: LoggedRequest): Html {
  if (status === 0) return markup`<span class="status bad">No answer</span>`;
  const kind = status >= 400 ? 'bad' : status >= 300 ? 'odd' : 'good';
  return markup`<span class="status ${kind}">${String(status)}</span>`;
}

function faultNames(faults: readonly string[]): Html {
  return markup`<code>${faults.join(' ')}</code>`;
}

/** The page of a request. */
export function showRequest(call: AdmittedCall): Response {
  const {context} = call;
  const number = Number(param(call, 'number'));
  const request = context.log.requests.find((one) => one.number === number);
  if (!request) throw new HttpFailure(404, 'This request is not kept: the runtime only keeps the newest ones.');
  const mask = maskOf(context);
  const {requestParts, requestBody, responseBody} = request;
  const content = markup`
    <dl class="facts">
      <dt>Path</dt>
      <dd><code><bdi>${mask(`${request.path}${request.search}`)}</bdi></code></dd>
      <dt>Status</dt>
      <dd>${statusText(request)}</dd>
      <dt>Kind</dt>
      <dd>${request.route ?? 'Nothing is served there'}</dd>
      <dt>At</dt>
      <dd>${timeText(request.at)}, ${request.durationMs.toLocaleString('en-US')} ms</dd>
      <dt>Fault</dt>
      <dd>${request.appliedFaults.length === 0 ? 'None' : faultNames(request.appliedFaults)}</dd>
    </dl>
    <section aria-labelledby="request-title">
      <h2 id="request-title">Request</h2>
      ${headerList(request.requestHeaders, mask)}
      <h3>Body, ${bytesText(request.bytesReceived)}</h3>
      ${
        requestParts.length === 0
          ? bodyText('request', requestBody, request.bytesReceived, mask)
          : renderTable(
              'Parts of the upload',
              [
                {title: 'Part', cell: ({name}) => foreign(name, 100)},
                {title: 'Size', isNumber: true, cell: ({bytes}) => bytesText(bytes)},
              ],
              requestParts,
            )
      }
    </section>
    <section aria-labelledby="response-title">
      <h2 id="response-title">Response</h2>
      ${
        request.status === 0
          ? markup`<p>The connection ended without one.</p>`
          : markup`${headerList(request.responseHeaders, mask)}
              <h3>Body</h3>
              ${bodyText('response', responseBody, request.bytesSent, mask)}`
      }
    </section>`;
  return pageAnswer({
    title: `${request.method} request ${String(number)}`,
    place: 'Requests',
    parents: [{name: 'Requests', path: `${pagesPath}requests`}],
    content,
  });
}

function headerList(headers: LoggedRequest['requestHeaders'], mask: (text: string) => string): Html {
  if (headers.length === 0) return markup`<p>No headers.</p>`;
  return markup`<dl class="facts headers">
    ${headers.map(
      ([name, value]) =>
        markup`<dt><code>${name}</code></dt>
          <dd><code><bdi>${mask(value)}</bdi></code></dd>`,
    )}
  </dl>`;
}

function bodyText(of: string, body: Excerpt | undefined, bytes: number, mask: (text: string) => string): Html {
  if (body === undefined || body.text === '') return markup`<p>${bytes === 0 || body ? 'Empty.' : 'Not shown.'}</p>`;
  return markup`<pre tabindex="0" role="region" aria-label="Body of the ${of}">${mask(readable(body))}</pre>
    ${body.isCut ? markup`<p class="soft">The rest is not kept.</p>` : undefined}`;
}

/** JSON with its members below each other, or a form, without credentials. */
function readable({text, isCut}: Excerpt): string {
  const start = text.trimStart().slice(0, 1);
  if (start !== '{' && start !== '[') return maskedPairs(text);
  if (!isCut) {
    try {
      const value: unknown = JSON.parse(text);
      return JSON.stringify(value, withoutSecrets, 2);
    } catch {
      // Not JSON after all, so it is shown as it is.
    }
  }
  // The end of the last value may be missing.
  const shown = text.replaceAll(
    /"((?:[^"\\]|\\.){0,200})"(\s*:\s*)(?:"(?:[^"\\]|\\.)*"?|[^\s"{[][^\s,\]}]*)/g,
    (whole, name: string, colon: string) => (mayNameSecret(name) ? `"${name}"${colon}"${masked}"` : whole),
  );
  // Where a list or an object ends is not known, so nothing behind it is shown either.
  const nested = [...shown.matchAll(/"((?:[^"\\]|\\.){0,200})"\s*:\s*(?=[[{])/g)].find(([, name = '']) =>
    mayNameSecret(name),
  );
  return nested === undefined ? shown : `${shown.slice(0, nested.index + nested[0].length)}${masked}`;
}

/** For `JSON.stringify`. */
function withoutSecrets(name: string, value: unknown): unknown {
  return mayNameSecret(name) && value !== null ? masked : value;
}
