import {text, HttpFailure, type Answer} from '../answer.js';
import {param, type AdmittedCall, type Protocol, type RuntimeContext} from '../context.js';
import type {DeploymentRecord} from '../store/records.js';
import {cacheControl, chooseEncoding, fileAnswer, isCompressibleType, mediaType} from './file-answer.js';
import {sitePath} from './site-address.js';
import {pathInside} from './site-files.js';

/** Where browsers look for an icon at every server, whatever its pages say. */
export const faviconPath = '/favicon.ico';

/** Folders besides the root that can contain the page of a target. */
const pageFolders = ['static', 'client'];

const faviconHeaders = {'cache-control': 'max-age=86400'};

/**
 * The deployed apps: their files except server-only ones, what their servers answer, and a line of text at the root.
 * Needs no credentials. It is served from an origin of its own, so that scripts of an app can neither call the API nor
 * change the pages of the runtime.
 */
export const siteProtocol: Protocol = {
  prefix: '/',
  anyFinalSlash: false,
  routes: [
    {method: 'GET', pattern: '', name: 'home', handle: home},
    // The icon of an app is below its target.
    {method: 'GET', pattern: faviconPath.slice(1), handle: () => ({status: 204, headers: faviconHeaders})},
    {method: '*', pattern: '{name}', name: 'site', handle: serveNothing},
    {method: '*', pattern: '{projectSlug}/{targetSlug}', name: 'site', handle: addSlash},
    {method: '*', pattern: '{projectSlug}/{targetSlug}/{file*}', name: 'site', handle: serveApp},
  ],
  admit: () => 'browser',
  failure: ({status, message, headers}) => text(status, message, headers),
};

function home({context}: AdmittedCall): Answer {
  return text(200, `Each target is served at ${sitePattern(context)}, for development only.`);
}

/** Where targets are served, for people. */
function sitePattern({appsOrigin}: RuntimeContext): string {
  return `http://TARGET--PROJECT.localhost:${new URL(appsOrigin).port}/`;
}

function serveNothing({path, context}: AdmittedCall): never {
  throw new HttpFailure(404, `Nothing is served at ${path}. Each target is served at ${sitePattern(context)}.`);
}

function addSlash(call: AdmittedCall): Answer {
  findDeployment(call);
  return redirect(308, call, []);
}

/** What a target runs, and which of its files a request is for. */
interface Site {
  readonly deployment: DeploymentRecord;
  readonly folder: string;
  /** The decoded parts of the path below the target. */
  readonly parts: readonly string[];
}

/** The deployment that a target runs. @throws HttpFailure 404 if there is none. */
function findDeployment(call: AdmittedCall): DeploymentRecord {
  const [projectSlug, targetSlug] = [param(call, 'projectSlug'), param(call, 'targetSlug')];
  const deployment = call.context.deployments.current(projectSlug, targetSlug);
  if (deployment) return deployment;
  const place = `"${targetSlug}" of "${projectSlug}"`;
  throw new HttpFailure(404, `Nothing is deployed to ${place}. Each target is served at ${sitePattern(call.context)}.`);
}

/** Serves the deployment that a target runs. */
async function serveApp(call: AdmittedCall): Promise<Answer> {
  const deployment = findDeployment(call);
  try {
    return await serveFrom(deployment, call);
  } catch (error) {
    if (!(error instanceof HttpFailure) || error.status !== 404) throw error;
    const newer = findDeployment(call);
    if (newer === deployment) throw error;
    // Its files were removed while they were looked for.
    return serveFrom(newer, call);
  }
}

/** Answers with a file of a deployment, or else what its server answers. */
async function serveFrom(deployment: DeploymentRecord, call: AdmittedCall): Promise<Answer> {
  const {store, appServers} = call.context;
  const parts = param(call, 'file').split('/').map(decodeURIComponent);
  const site = {deployment, folder: store.sitePath(deployment.deploymentId), parts};
  const {method = 'GET'} = call.request;
  const isRead = method === 'GET' || method === 'HEAD';
  const answer = (isRead ? await fileOf(call, site) : undefined) ?? (await appServers?.answer(call, deployment));
  if (answer) return answer;
  if (isRead) return otherPage(call, site);
  throw new HttpFailure(405, `${call.path} does not accept ${method}, only GET.`, {allow: 'GET'});
}

/** The file that a path asks for. The folder only contains files that may be served, see `Deployments.start()`. */
async function fileOf(call: AdmittedCall, site: Site): Promise<Answer | undefined> {
  const {parts} = site;
  if (!isSafe(parts)) return undefined;
  const name = parts.join('/');
  if (name === '' || name.endsWith('/')) return siteAnswer(call, site, `${name}index.html`);
  return (await siteAnswer(call, site, name)) ?? siteAnswer(call, site, `${name}.html`);
}

/** The page that a path without a file may mean, or a redirect to it. */
async function otherPage(call: AdmittedCall, site: Site): Promise<Answer> {
  const {folder, parts} = site;
  if (!isSafe(parts)) throw notServed(call);
  const name = parts.join('/');
  const isFolder = name === '' || name.endsWith('/');
  if (!isFolder && (await pathInside(folder, name, 'folder')) !== undefined) return redirect(302, call, parts);
  const page = name === '' ? undefined : await fallbackPage(call, site);
  if (page !== undefined) return page;
  if (name !== '') throw notServed(call);
  for (const pageFolder of pageFolders) {
    // A redirect instead of the page itself, because its relative links depend on its location.
    const page = await pathInside(folder, `${pageFolder}/index.html`, 'file');
    if (page !== undefined) return redirect(302, call, [pageFolder], 'index.html');
  }
  throw notServed(call);
}

/** The page for paths that no file has: the site's own 404.html, or that of an app with its routes in the browser. */
async function fallbackPage(call: AdmittedCall, site: Site): Promise<Answer | undefined> {
  const isMissing = await siteAnswer(call, site, '404.html');
  if (isMissing) return {...isMissing, status: isMissing.status === 200 ? 404 : isMissing.status};
  const isNavigation = call.request.headers.accept?.includes('text/html') === true;
  return isNavigation ? siteAnswer(call, site, 'index.html') : undefined;
}

/** Answers with a file of a site, in an encoding that the client accepts, if the bundle contains one. */
async function siteAnswer(
  {request, context: {files}}: AdmittedCall,
  {folder, deployment: {deploymentId: etag, endsAt}}: Site,
  name: string,
): Promise<Answer | undefined> {
  const found = await files.find(folder, name);
  if (!found) return undefined;
  const {plain, encoded} = found;
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
    modified: new Date(endsAt),
    headers,
    // A bundle with compressed variants of a file has been compressed with more care than there is time for here.
    isCompressible: encoded.size === 0 && isCompressibleType(type),
    open: (path) => files.open(path),
  });
}

/**
 * Redirects to a folder of the same target, or a file in it. The address is built from validated names, because
 * browsers could take the requested one for another server's (`//evil`, `/\evil`).
 */
function redirect(status: number, call: AdmittedCall, folders: readonly string[], file = ''): Answer {
  const [projectSlug, targetSlug] = [param(call, 'projectSlug'), param(call, 'targetSlug')];
  if ([projectSlug, targetSlug, ...folders].some(isUnsafe)) throw notServed(call);
  const base = call.base ?? sitePath({projectSlug, targetSlug});
  const names = folders.map((name) => `/${encodeURIComponent(name)}`).join('');
  return {status, headers: {location: `${base}${names}/${file}${call.search}`}};
}

function notServed({path: requested, context: {appServers}}: AdmittedCall): HttpFailure {
  const advice = appServers === undefined ? ' If its server should answer, start the runtime with --ssr.' : '';
  return new HttpFailure(404, `The deployed bundle does not serve a file at ${requested}.${advice}`);
}

function isSafe(parts: readonly string[]): boolean {
  return !parts.slice(0, -1).includes('') && !parts.some(isUnsafe);
}

function isUnsafe(part: string): boolean {
  return part === '.' || part === '..' || /[/\\\0]/.test(part);
}
