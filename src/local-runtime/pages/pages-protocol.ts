import {html} from 'hono/html';
import {HttpFailure} from '../answer.js';
import type {Call, Protocol, Route} from '../runtime-context.js';
import {icon, liveScript, stylesheet} from './assets.js';
import {deleteFromPage, showBundle} from './bundle-page.js';
import {addFault, removeFault, showFaults} from './fault-page.js';
import {assetAnswer, notice, pageAnswer, pagesPath} from './page.js';
import {deployFromPage, showOverview, showProject, showTarget} from './project-pages.js';

const get = (path: string, handle: Route['handle']): Route => ({method: 'GET', path, handle});
const post = (path: string, handle: Route['handle']): Route => ({method: 'POST', path, handle});
const project = `${pagesPath}projects/:projectSlug`;

/** The pages for people. No fault applies to them, and their requests are not recorded. */
export const pagesProtocol: Protocol = {
  prefix: pagesPath,
  routes: [
    get('/', showOverview),
    get(project, showProject),
    get(`${project}/targets/:targetSlug`, showTarget),
    get(`${project}/bundles/:bundleId{\\d+}`, showBundle),
    post(`${project}/bundles/:bundleId{\\d+}/delete`, deleteFromPage),
    post(`${project}/deploy`, deployFromPage),
    get(`${pagesPath}faults`, (call) => showFaults(call)),
    post(`${pagesPath}faults`, addFault),
    post(`${pagesPath}faults/remove`, removeFault),
    get(`${pagesPath}style.css`, () => assetAnswer('text/css; charset=utf-8', stylesheet)),
    get(`${pagesPath}live.js`, () => assetAnswer('text/javascript; charset=utf-8', liveScript)),
    get(`${pagesPath}icon.svg`, () => assetAnswer('image/svg+xml', icon)),
  ],
  admit: admitBrowser,
  failure: ({status, message, headers}) =>
    pageAnswer({
      title: status === 404 ? 'Not found' : 'That did not work',
      content: html`${notice(message, 'problem')}
        <p><a href="/">What runs here</a></p>`,
      status,
      headers,
    }),
};

/** There is no login: the pages are for this machine, and for others only if the API is open to them, too. */
function admitBrowser({context, request}: Call): string {
  if (context.auth && !isThisMachine(request.socket.remoteAddress)) {
    throw new HttpFailure(
      403,
      'These pages are only available on the machine that the runtime runs on. Pass --no-require-auth to open them.',
    );
  }
  return 'page';
}

/** Whether a client's address belongs to this machine. */
export function isThisMachine(address = ''): boolean {
  return /^(?:::1$|(?:::ffff:)?127\.)/.test(address);
}
