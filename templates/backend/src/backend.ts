import {pipeline} from 'node:stream/promises';
// Types only: there may be no mycli to import where the plugin runs.
import type {Backend, BackendContext, BundleId, HttpClient, HttpError} from 'mycli/backend';
import * as v from 'valibot';

/** The settings. Those in `required` are optional here: mycli says which are missing. */
const options = v.strictObject({
  /** Where the service is. */
  url: v.optional(v.pipe(v.string(), v.url())),
  token: v.optional(v.string()),
});

type Options = v.InferOutput<typeof options>;
type Context = BackendContext<Options>;

// What the service answers. `v.parse` fails if it answers anything else.
const statuses = v.picklist(['queued', 'in_progress', 'finished', 'failed']);
const bundles = v.looseObject({
  next: v.optional(v.string()),
  items: v.array(
    v.looseObject({
      id: v.string(),
      message: v.string(),
      sha256: v.string(),
      createdAt: v.string(),
      targets: v.array(v.string()),
    }),
  ),
});
const deployment = v.looseObject({
  id: v.string(),
  bundleId: v.string(),
  status: statuses,
  createdAt: v.string(),
  url: v.string(),
});
const deployments = v.looseObject({next: v.optional(v.string()), items: v.array(deployment)});

/** The backend. Remove the functions for what your service cannot do: the others are its capabilities. */
export const backend: Backend<Options> = {
  apiVersion: 1,
  name: 'acme',
  summary: 'The acme hosting service',
  formats: ['v2'],
  options,
  required: ['url', 'token'],
  secrets: ['token'],

  async upload(bundle, context) {
    const {message, sha256} = bundle;
    const sent = {searchParams: {message, sha256}, ...context.bodies.file(bundle, {contentType: 'application/gzip'})};
    const raw = v.parse(v.looseObject({id: v.string()}), await connect(context).post('bundles', sent).json());
    return {bundleId: raw.id, raw};
  },

  async deploy({bundleId, targetSlug}, context) {
    const request = connect(context).post(`targets/${part(targetSlug)}/deployments`, {json: {bundleId}});
    const raw = v.parse(deployment, await explained(bundleId, request.json(), context, {deploys: true}));
    return {deployment: {deploymentId: raw.id}, status: raw.status, url: raw.url, raw};
  },

  async getDeployment({deploymentId}, context) {
    const raw = v.parse(
      deployment,
      await connect(context)
        .get(`deployments/${part(deploymentId)}`)
        .json(),
    );
    return {status: raw.status, url: raw.url, raw};
  },

  async listBundles({limit, cursor}, context) {
    const answer = await connect(context)
      .get('bundles', {searchParams: {limit, after: cursor}})
      .json();
    const raw = v.parse(bundles, answer);
    const items = raw.items.map(({id, message, sha256, createdAt, targets}) => {
      return {bundleId: id, message, sha256, createdAt, status: 'ready' as const, inUseBy: targets};
    });
    return {items, cursor: raw.next, raw};
  },

  async listDeployments({targetSlug, limit, cursor}, context) {
    const answer = await connect(context)
      .get(`targets/${part(targetSlug)}/deployments`, {searchParams: {limit, after: cursor}})
      .json();
    const raw = v.parse(deployments, answer);
    const items = raw.items.map(({id, bundleId, status, createdAt, url}) => {
      return {deployment: {deploymentId: id}, bundleId, status, createdAt, url};
    });
    return {items, cursor: raw.next, raw};
  },

  async download({bundleId, writeTo, onStart}, context) {
    const http = connect(context);
    const archive = context.openStream(`bundles/${part(bundleId)}/archive`, {http});
    const {body, headers} = await explained(bundleId, archive, context);
    const {'content-length': length, 'x-sha256': sha256} = headers;
    onStart?.({
      offset: 0,
      total: length === undefined ? undefined : Number(length),
      // mycli compares it with what arrives.
      sha256: typeof sha256 === 'string' ? sha256 : undefined,
    });
    await pipeline(body, writeTo, {signal: context.signal});
  },

  async deleteBundle({bundleId}, context) {
    await explained(bundleId, connect(context).delete(`bundles/${part(bundleId)}`), context);
  },
};

/** The client for the project. It retries rate limits, and rejects every status other than 2xx. */
function connect({http, options: {url, token}, projectSlug}: Context): HttpClient {
  return http.extend({
    prefixUrl: `${(url ?? '').replace(/\/$/, '')}/projects/${part(projectSlug)}`,
    headers: {authorization: `Bearer ${token ?? ''}`},
  });
}

/** A part of a path. */
function part(value: unknown): string {
  return encodeURIComponent(String(value));
}

/** Turns the statuses that have a meaning of their own in requests about a bundle into errors that say it. */
async function explained<Answer>(
  bundleId: BundleId,
  request: Promise<Answer>,
  context: Context,
  {deploys = false} = {},
): Promise<Answer> {
  try {
    return await request;
  } catch (error) {
    const {status} = error as HttpError;
    if (status === 404) throw context.error('ERR_BUNDLE_UNKNOWN', `There is no bundle ${bundleId}`, {status});
    if (status === 409 && deploys) {
      // With --wait-for-slot, mycli waits and calls `deploy` again.
      throw context.error('ERR_TARGET_BUSY', 'Another deployment to the target is running', {status});
    }
    throw error;
  }
}
