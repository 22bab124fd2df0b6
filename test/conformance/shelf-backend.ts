import {pipeline} from 'node:stream/promises';
import * as v from 'valibot';
import type {Backend, BackendContext, BundleId, DeployResult, DeploymentState} from '../../src/backends/contract.js';

export interface ShelfOptions {
  readonly origin?: string | undefined;
  readonly key?: string | undefined;
}

type Context = BackendContext<ShelfOptions>;
type ShelfBackend = Backend<ShelfOptions>;

/** A backend with everything that does nothing wrong: the broken ones are made of it. */
export function createShelfBackend() {
  const backend: ShelfBackend = {
    apiVersion: 1,
    name: 'shelf',
    summary: 'A service in memory',
    formats: ['v2'],
    options: v.object({origin: v.optional(v.string()), key: v.optional(v.string())}),
    required: ['origin', 'key'],
    secrets: ['key'],
    secretEnv: ['SHELF_SEAL'],

    async login({options, http, prompt, maskSecret}) {
      const password = await prompt({message: 'Password', secret: true});
      const {ticket} = await http.post(`${options.origin}/login`, {json: {password}}).json<{ticket: string}>();
      maskSecret(ticket);
      const {key} = await http.post(`${options.origin}/login`, {json: {ticket}}).json<{key: string}>();
      return {secrets: {key}};
    },
    async verify({options, http}) {
      const headers = {authorization: `Bearer ${String(options.key)}`};
      return http(`${options.origin}/me`, {headers}).json<{account: string}>();
    },
    async upload(bundle, context) {
      const {headers, context: body} = context.bodies.file(bundle);
      const answer = await context.http
        .post(urlOf(context, 'bundles'), {
          headers: {
            ...headers,
            ...authorized(context),
            ...sealed(context),
            'x-message': encodeURIComponent(bundle.message),
          },
          context: body,
        })
        .json<{id: string; receipt?: string}>();
      context.maskSecret(answer.receipt);
      return {bundleId: answer.id, raw: answer};
    },
    deploy: ({bundleId, targetSlug}, context) => requestDeployment(targetSlug, {bundleId}, context),
    promote: ({bundleId, from, to}, context) => requestDeployment(to, {bundleId, from}, context),
    async getDeployment({deploymentId, targetSlug}, context) {
      const url = urlOf(context, 'targets', String(targetSlug), String(deploymentId));
      const raw = await context.http(url, {headers: authorized(context)}).json<Pick<DeploymentState, 'status'>>();
      return {status: raw.status, raw};
    },
    async listBundles({limit, offset}, context) {
      const raw = await context
        .http(urlOf(context, 'bundles'), {headers: authorized(context)})
        .json<{id: string; message: string; createdAt: string; inUseBy: string[]}[]>();
      const items = raw.map(({id, ...row}) => ({bundleId: id, ...row, status: 'ready' as const}));
      return {items: items.slice(offset, offset + limit), total: raw.length, raw};
    },
    async listDeployments({targetSlug, limit, offset}, context) {
      const raw = await context
        .http(urlOf(context, 'targets', targetSlug), {headers: authorized(context)})
        .json<{id: string; bundleId: string; createdAt: string; status: 'finished' | 'failed'}[]>();
      const items = raw.map(({id, bundleId, createdAt, status}) => ({
        deployment: {deploymentId: id, targetSlug},
        ...{bundleId, createdAt, status},
      }));
      return {items: items.slice(offset, offset + limit), total: raw.length, raw};
    },
    async listTargets({limit, offset}, context) {
      const raw = await context
        .http(urlOf(context, 'targets'), {headers: authorized(context)})
        .json<readonly {readonly slug: string}[]>();
      const items = raw.map(({slug}) => ({targetSlug: slug, url: `https://${slug}.example`}));
      return {items: items.slice(offset, offset + limit), total: raw.length, raw};
    },
    async readLogs({deployment: {targetSlug, deploymentId}, cursor = '0'}, context) {
      const url = urlOf(context, 'logs', String(targetSlug), String(deploymentId), cursor);
      const {lines, next, of} = await context
        .http(url, {headers: authorized(context)})
        .json<{lines: string[]; next: string; of: number}>();
      return {lines, cursor: next, done: Number(next) === of};
    },
    async download({bundleId, writeTo, resume, onStart}, context) {
      const range = resume && {range: `bytes=${String(resume.offset)}-`, 'if-range': resume.validator};
      const url = urlOf(context, 'bundles', String(bundleId));
      const {body, status, headers} = await context.openStream(url, {headers: {...authorized(context), ...range}});
      const offset = status === 206 ? (resume?.offset ?? 0) : 0;
      onStart?.({offset, total: offset + Number(headers['content-length']), validator: headers.etag});
      await pipeline(body, writeTo, {signal: context.signal});
    },
    async deleteBundle({bundleId}, context) {
      await context.http.delete(urlOf(context, 'bundles', String(bundleId)), {headers: authorized(context)});
    },
  };
  return backend as Required<ShelfBackend>;
}

async function requestDeployment(
  targetSlug: string,
  json: {readonly bundleId: BundleId; readonly from?: string},
  context: Context,
): Promise<DeployResult> {
  const raw = await context.http
    .post(urlOf(context, 'targets', targetSlug), {headers: authorized(context), json})
    .json<{id: string}>()
    .catch((error: unknown) => {
      if (Object(error).status !== 409) throw error;
      throw context.error('ERR_TARGET_BUSY', 'Another deployment is running.', {status: 409});
    });
  return {deployment: {deploymentId: raw.id, targetSlug}, status: 'queued', raw};
}

export function urlOf({options, projectSlug}: Context, ...path: readonly string[]): string {
  return [options.origin, projectSlug, ...path].join('/');
}

function sealed({env}: Context) {
  return {'x-seal': env['SHELF_SEAL']};
}

export function authorized({options}: Context): {authorization: string} {
  return {authorization: `Bearer ${String(options.key)}`};
}
