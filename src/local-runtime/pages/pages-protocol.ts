import {Readable} from 'node:stream';
import {HttpFailure} from '../answer.js';
import type {AdmittedCall, Call, Protocol} from '../context.js';
import {markup} from '../../html/html.js';
import {faviconPath} from '../protocols/site-protocol.js';
import {deployBundle} from './deploy-form.js';
import {addFault, removeFault, showFaults} from './fault-pages.js';
import {topics, type Topic} from './live-feed.js';
import {assetAnswer, icon, liveScript, pageAnswer, pagesPath, securityHeaders, stylesheet} from './page-frame.js';
import {showBundle, showComparison, showOverview, showProject} from './project-pages.js';
import {showRequest, showRequests} from './request-pages.js';

/** Whether a path is one of the pages rather than of the service. */
export function isPage(path: string): boolean {
  return path === '/' || path === faviconPath || path.startsWith(pagesPath);
}

/** The pages for people. No fault applies to them, and their requests are not recorded. */
export const pagesProtocol: Protocol = {
  prefix: pagesPath,
  routes: [
    {method: 'GET', path: '/', handle: showOverview},
    {method: 'GET', path: `${pagesPath}projects/{projectSlug}`, handle: showProject},
    {method: 'GET', path: `${pagesPath}projects/{projectSlug}/compare`, handle: showComparison},
    {method: 'GET', path: `${pagesPath}projects/{projectSlug}/bundles/{bundleId}`, handle: showBundle},
    {method: 'POST', path: `${pagesPath}projects/{projectSlug}/deploy`, handle: deployBundle},
    {method: 'GET', path: `${pagesPath}requests`, handle: showRequests},
    {method: 'GET', path: `${pagesPath}requests/{number}`, handle: showRequest},
    {method: 'GET', path: `${pagesPath}faults`, handle: showFaults},
    {method: 'POST', path: `${pagesPath}faults`, handle: addFault},
    {method: 'POST', path: `${pagesPath}faults/remove`, handle: removeFault},
    {method: 'GET', path: `${pagesPath}events`, handle: streamEvents},
    {method: 'GET', path: `${pagesPath}style.css`, handle: () => assetAnswer('text/css; charset=utf-8', stylesheet)},
    {
      method: 'GET',
      path: `${pagesPath}live.js`,
      handle: () => assetAnswer('text/javascript; charset=utf-8', liveScript),
    },
    ...[`${pagesPath}icon.svg`, faviconPath].map((path) => ({
      ...({method: 'GET', path} as const),
      handle: () => assetAnswer('image/svg+xml', icon),
    })),
  ],
  admit: admitBrowser,
  failure: ({status, message, headers}) =>
    pageAnswer({
      title: status === 404 ? 'Not found' : 'That did not work',
      content: markup`<p class="notice problem">${message}</p>
        <p><a href="/">What runs here</a></p>`,
      status,
      headers,
    }),
};

/**
 * There is no login: whoever can run a browser on this machine may see the pages. Others may only see them if the API
 * is open to them as well.
 * @throws HttpFailure 403.
 */
function admitBrowser({context, request}: Call): string {
  if (context.auth && !isThisMachine(request.socket.remoteAddress)) {
    throw new HttpFailure(
      403,
      'These pages are only available on the machine that the runtime runs on. Pass --no-require-auth to open them.',
    );
  }
  return 'page';
}

/** Tells a page what has changed as long as it is open. */
function streamEvents({context, query}: AdmittedCall): Response {
  const asked = (query.get('topics') ?? '').split(' ');
  const wanted = new Set<Topic>(topics.filter((topic) => asked.includes(topic)));
  const events = Readable.toWeb(context.feed.stream(wanted)) as ReadableStream;
  return new Response(events, {headers: {'content-type': 'text/event-stream', ...securityHeaders}});
}

/** Whether a client's address belongs to this machine. */
export function isThisMachine(address = ''): boolean {
  const plain = address.replace(/^::ffff:/, '');
  return plain === '::1' || plain.startsWith('127.');
}
