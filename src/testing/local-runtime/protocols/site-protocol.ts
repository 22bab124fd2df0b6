import {realpath} from 'node:fs/promises';
import path from 'node:path';
import {text, type Answer} from '../answer.js';
import {param, type AdmittedCall, type Protocol} from '../context.js';
import {HttpFailure} from '../http-failure.js';
import {fileAnswer} from './file-answer.js';
import {mediaType} from './media-type.js';

/** Where the page of a target may lie in its bundle, beside the top. */
const pageFolders = ['static', 'client'];

/** What people see in a browser: a line at the top, and the shared files of what is deployed. No credentials. */
export const siteProtocol: Protocol = {
  prefix: '/',
  routes: [
    {method: 'GET', pattern: '', name: 'home', handle: home},
    {method: 'GET', pattern: '{projectSlug}/{targetSlug}', name: 'site', handle: addSlash},
    {method: 'GET', pattern: '{projectSlug}/{targetSlug}/{file*}', name: 'site', handle: serveFile},
  ],
  admit: () => 'browser',
  failure: ({status, message, headers}) => text(status, message, headers),
};

function home(): Answer {
  return text(200, 'This is a local runtime, for development only: not a hosting service, and not for production.');
}

function addSlash({path: requested}: AdmittedCall): Answer {
  return {status: 308, headers: {location: `${requested}/`}};
}

/** Serves a file of the deployment that a target runs. The folder holds shared files only, see `unpackSite()`. */
async function serveFile(call: AdmittedCall): Promise<Answer> {
  const [projectSlug, targetSlug] = [param(call, 'projectSlug'), param(call, 'targetSlug')];
  const {store, deployments} = call.context;
  const deployment = deployments.current(projectSlug, targetSlug);
  if (!deployment) throw new HttpFailure(404, `Nothing is deployed to "${targetSlug}" of "${projectSlug}".`);
  const site = store.sitePath(deployment.deploymentId);
  const answerWith = async (name: string): Promise<Answer | undefined> => {
    const file = await fileInside(site, name);
    const headers = {'content-type': mediaType(name), 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff'};
    return file === undefined ? undefined : fileAnswer(call.request, {file, etag: deployment.deploymentId, headers});
  };
  const parts = param(call, 'file').split('/').map(decodeURIComponent);
  if (parts.slice(0, -1).includes('') || parts.some(isUnsafe)) throw notServed(call);
  const name = parts.join('/');
  const answer = await answerWith(name === '' || name.endsWith('/') ? `${name}index.html` : name);
  if (answer) return answer;
  if (name !== '') throw notServed(call);
  for (const folder of pageFolders) {
    const page = `${folder}/index.html`;
    // A redirect, not the page itself: its relative links are meant from where it lies.
    if ((await fileInside(site, page)) !== undefined) return {status: 302, headers: {location: `${call.path}${page}`}};
  }
  throw notServed(call);
}

function notServed({path: requested}: AdmittedCall): HttpFailure {
  return new HttpFailure(404, `${requested} is no shared file of what is deployed.`);
}

function isUnsafe(part: string): boolean {
  return part === '.' || part === '..' || /[/\\\0]/.test(part);
}

/**
 * The file that a name leads to, when that is in the folder: a second look, after the one at the upload. Files may be links
 * of the bundle; the folder itself is none, nor lies behind one.
 */
async function fileInside(folder: string, name: string): Promise<string | undefined> {
  const file = await realpath(path.join(folder, name)).catch(() => undefined);
  return file?.startsWith(folder + path.sep) ? file : undefined;
}
