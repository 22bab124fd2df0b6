import {realpath, stat} from 'node:fs/promises';
import path from 'node:path';
import {text, HttpFailure, type Answer} from '../answer.js';
import {param, type AdmittedCall, type Call, type Protocol} from '../context.js';
import {cacheControl, chooseEncoding, encodedFiles, fileAnswer, isCompressibleType, mediaType} from './file-answer.js';

/** Folders besides the root that can contain the page of a target. */
const pageFolders = ['static', 'client'];

/**
 * The deployed apps: their files except server-only ones, and a line of text at the root. Needs no credentials. It is
 * served from an origin of its own, so that scripts of an app can neither call the API nor change the page above it.
 */
export const siteProtocol: Protocol = {
  prefix: '/',
  anyFinalSlash: false,
  routes: [
    {method: 'GET', pattern: '', name: 'home', handle: home},
    {method: 'GET', pattern: '{projectSlug}/{targetSlug}', name: 'site', handle: addSlash},
    {method: 'GET', pattern: '{projectSlug}/{targetSlug}/{file*}', name: 'site', handle: serveFile},
  ],
  admit: () => 'browser',
  failure: ({status, message, headers}) => text(status, message, headers),
};

/** The URL of the bundle that a target runs, with the host name that the client uses. */
export function siteUrl(
  {origin, context}: Pick<Call, 'origin' | 'context'>,
  projectSlug: string,
  targetSlug: string,
): string {
  const url = new URL(origin);
  url.port = new URL(context.appsOrigin).port;
  return `${url.origin}/${encodeURIComponent(projectSlug)}/${encodeURIComponent(targetSlug)}/`;
}

function home(): Answer {
  return text(200, 'Deployed apps are served here at /PROJECT/TARGET/, for development only.');
}

function addSlash(call: AdmittedCall): Answer {
  return redirect(308, call, []);
}

/**
 * Serves a file of the deployment that a target runs. The folder only contains files that may be served; see
 * `unpackSite()`.
 */
async function serveFile(call: AdmittedCall): Promise<Answer> {
  const [projectSlug, targetSlug] = [param(call, 'projectSlug'), param(call, 'targetSlug')];
  const {store, deployments} = call.context;
  const deployment = deployments.current(projectSlug, targetSlug);
  if (!deployment) throw new HttpFailure(404, `Nothing is deployed to "${targetSlug}" of "${projectSlug}".`);
  const {deploymentId, endsAt} = deployment;
  const site = {folder: store.sitePath(deploymentId), etag: deploymentId, modified: new Date(endsAt)};
  const parts = param(call, 'file').split('/').map(decodeURIComponent);
  if (parts.slice(0, -1).includes('') || parts.some(isUnsafe)) throw notServed(call);
  const name = parts.join('/');
  const isFolder = name === '' || name.endsWith('/');
  const answer = await siteAnswer(call, site, isFolder ? `${name}index.html` : name);
  if (answer) return answer;
  if (!isFolder && (await pathInside(site.folder, name, 'folder')) !== undefined) return redirect(302, call, parts);
  if (name !== '') throw notServed(call);
  for (const folder of pageFolders) {
    // A redirect instead of the page itself, because its relative links depend on its location.
    const page = await pathInside(site.folder, `${folder}/index.html`, 'file');
    if (page !== undefined) return redirect(302, call, [folder], 'index.html');
  }
  throw notServed(call);
}

/** Answers with a file of a site, in an encoding that the client accepts, if the bundle contains one. */
async function siteAnswer(
  {request}: AdmittedCall,
  {folder, etag, modified}: {readonly folder: string; readonly etag: string; readonly modified: Date},
  name: string,
): Promise<Answer | undefined> {
  const plain = await pathInside(folder, name, 'file');
  if (plain === undefined) return undefined;
  const encoded = new Map<string, string>();
  for (const [encoding, suffix] of encodedFiles) {
    const file = await pathInside(folder, `${name}${suffix}`, 'file');
    if (file !== undefined) encoded.set(encoding, file);
  }
  const encoding = chooseEncoding(request.headers['accept-encoding'], [...encoded.keys()]);
  const type = await mediaType(name);
  const headers = {
    'content-type': type,
    'cache-control': cacheControl(name),
    'x-content-type-options': 'nosniff',
    ...(encoded.size > 0 && {vary: 'accept-encoding'}),
    ...(encoding !== undefined && {'content-encoding': encoding}),
  };
  const file = (encoding === undefined ? undefined : encoded.get(encoding)) ?? plain;
  return fileAnswer(request, {
    file,
    etag: encoding === undefined ? etag : `${etag}-${encoding}`,
    modified,
    headers,
    // A bundle with compressed variants of a file has been compressed with more care than there is time for here.
    isCompressible: encoded.size === 0 && isCompressibleType(type),
  });
}

/**
 * Redirects to a folder of the same target, or a file in it. The address is built from validated names, because
 * browsers could take the requested one for another server's (`//evil`, `/\evil`).
 */
function redirect(status: number, call: AdmittedCall, folders: readonly string[], file = ''): Answer {
  const names = [param(call, 'projectSlug'), param(call, 'targetSlug'), ...folders];
  if (names.some(isUnsafe)) throw notServed(call);
  return {status, headers: {location: `/${names.map(encodeURIComponent).join('/')}/${file}${call.search}`}};
}

function notServed({path: requested}: AdmittedCall): HttpFailure {
  return new HttpFailure(404, `The deployed bundle does not serve a file at ${requested}.`);
}

function isUnsafe(part: string): boolean {
  return part === '.' || part === '..' || /[/\\\0]/.test(part);
}

/**
 * The file or folder that a name resolves to, if it is inside the folder. This repeats the check of the upload. Files
 * may be links of the bundle; the folder itself is not a link, nor behind one.
 */
async function pathInside(folder: string, name: string, kind: 'file' | 'folder'): Promise<string | undefined> {
  const found = await realpath(path.join(folder, name)).catch(() => undefined);
  if (!found?.startsWith(folder + path.sep)) return undefined;
  const stats = await stat(found).catch(() => undefined);
  return (kind === 'file' ? stats?.isFile() : stats?.isDirectory()) ? found : undefined;
}
