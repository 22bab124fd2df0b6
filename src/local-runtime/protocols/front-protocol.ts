import {answer, HttpFailure, json} from '../answer.js';
import type {Call, Protocol} from '../context.js';
import {siteUrlFor} from './site-address.js';

/** What a browser finds at the origin of the API besides the pages: the way to the deployed apps. */
export const frontProtocol: Protocol = {
  prefix: '/',
  routes: [],
  admit: () => 'browser',
  // Most requests to unknown paths were meant for the API.
  failure: ({status, message, headers}) => json(status, {detail: message, message}, headers),
};

const appPath = /^\/([^/]+)\/([^/]+)(?:\/(.*))?$/;

/** Whether an app might be expected at a path. */
export function isAppPath(path: string): boolean {
  return appPath.test(path);
}

/** Redirects from where an app might be expected to where it is. */
export function redirectToApp(call: Call): Response {
  const [, project = '', target = '', file = ''] = appPath.exec(call.path) ?? [];
  const [projectSlug, targetSlug] = [decodeURIComponent(project), decodeURIComponent(target)];
  const {method = 'GET'} = call.request;
  if (call.context.store.deployments(projectSlug, targetSlug).length === 0) {
    throw new HttpFailure(404, `Nothing is served at ${call.path}.`);
  }
  if (method !== 'GET' && method !== 'HEAD') {
    throw new HttpFailure(405, `${call.path} does not accept ${method}, only GET.`, {allow: 'GET'});
  }
  return answer(307, '', {location: `${siteUrlFor(call, {projectSlug, targetSlug})}${file}${call.search}`});
}
