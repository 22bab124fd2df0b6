import {HttpFailure, type Answer} from '../answer.js';
import type {AdmittedCall, Call, Protocol} from '../context.js';
import {markup} from '../../html/html.js';
import {faviconPath} from '../protocols/site-protocol.js';
import {deployBundle} from './deploy-form.js';
import {addFault, removeFault, showFaults} from './fault-pages.js';
import {topics, type Topic} from './live-feed.js';
import {assetAnswer, icon, liveScript, pageAnswer, pagesPath, securityHeaders, stylesheet} from './page-frame.js';
import {showBundle, showComparison, showOverview, showProject} from './project-pages.js';
import {showRequest, showRequests} from './request-pages.js';
import {isThisMachine} from './session.js';

/** Whether a path is one of the pages rather than of the service. */
export function isPage(path: string): boolean {
  return path === '/' || path === faviconPath || path.startsWith(pagesPath);
}

const place = pagesPath.slice(1);

/** The pages for people. No fault applies to them, and their requests are not recorded. */
export const pagesProtocol: Protocol = {
  prefix: '/',
  anyFinalSlash: false,
  routes: [
    {method: 'GET', pattern: '', handle: showOverview},
    {method: 'GET', pattern: `${place}projects/{projectSlug}`, handle: showProject},
    {method: 'GET', pattern: `${place}projects/{projectSlug}/compare`, handle: showComparison},
    {method: 'GET', pattern: `${place}projects/{projectSlug}/bundles/{bundleId}`, handle: showBundle},
    {method: 'POST', pattern: `${place}projects/{projectSlug}/deploy`, handle: deployBundle},
    {method: 'GET', pattern: `${place}requests`, handle: showRequests},
    {method: 'GET', pattern: `${place}requests/{number}`, handle: showRequest},
    {method: 'GET', pattern: `${place}faults`, handle: showFaults},
    {method: 'POST', pattern: `${place}faults`, handle: addFault},
    {method: 'POST', pattern: `${place}faults/remove`, handle: removeFault},
    {method: 'GET', pattern: `${place}events`, handle: streamEvents},
    {method: 'GET', pattern: `${place}style.css`, handle: () => assetAnswer('text/css; charset=utf-8', stylesheet)},
    {
      method: 'GET',
      pattern: `${place}live.js`,
      handle: () => assetAnswer('text/javascript; charset=utf-8', liveScript),
    },
    ...[`${place}icon.svg`, faviconPath.slice(1)].map((pattern) => ({
      ...({method: 'GET', pattern} as const),
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
function streamEvents({context, query}: AdmittedCall): Answer {
  const asked = (query.get('topics') ?? '').split(' ');
  const wanted = new Set<Topic>(topics.filter((topic) => asked.includes(topic)));
  return {
    status: 200,
    headers: {'content-type': 'text/event-stream', ...securityHeaders},
    body: {stream: context.feed.stream(wanted)},
  };
}
