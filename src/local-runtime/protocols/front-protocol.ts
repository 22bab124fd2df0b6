import {HttpFailure, json, type Answer} from '../answer.js';
import {param, type AdmittedCall, type Protocol} from '../context.js';
import {siteUrlFor} from './site-address.js';

/** What a browser finds at the origin of the API besides the pages: the way to the deployed apps. */
export const frontProtocol: Protocol = {
  prefix: '/',
  anyFinalSlash: false,
  routes: [
    {method: 'GET', pattern: '{projectSlug}/{targetSlug}', name: 'site', handle: redirectToApp},
    {method: 'GET', pattern: '{projectSlug}/{targetSlug}/{file*}', name: 'site', handle: redirectToApp},
  ],
  admit: () => 'browser',
  // Most requests to unknown paths were meant for the API.
  failure: ({status, message, headers}) => json(status, {detail: message, message}, headers),
};

/** Redirects from where an app might be expected to where it is. */
function redirectToApp(call: AdmittedCall): Answer {
  const [projectSlug, targetSlug] = [param(call, 'projectSlug'), param(call, 'targetSlug')];
  if (call.context.store.deployments(projectSlug, targetSlug).length === 0) {
    throw new HttpFailure(404, `Nothing is served at ${call.path}.`);
  }
  const {file = ''} = call.params;
  return {status: 307, headers: {location: `${siteUrlFor(call, {projectSlug, targetSlug})}${file}${call.search}`}};
}
