import type * as v from 'valibot';
import {createError} from '../../errors/index.js';
import {api, type apiSchemas} from '../../wire/api.js';
import {fetchPage, listedVariable, readAcceptance, readAnswer, variablesBody} from '../answers.js';
import type {HostBackend} from '../host-backend.js';
import {configurationMembers} from '../configuration-members.js';
import type {TargetItem, TargetState} from '../contract.js';
import {connectApi, type ApiBackendOptions, type ApiContext} from './connection.js';

const {operations} = api;

/** A clone copies what connects an environment to the commerce platform, its variables and its redirects. */
const copied = {cloneEnvironmentVariables: true, cloneRedirects: true, cloneB2cTargetInfo: true};

/** What the backend can do with environments, which are its targets. */
export const environmentMembers = {
  /** The service makes the ID. What was asked for is its name. */
  targetSlugs: 'assigned',

  async listTargets(range, context: ApiContext) {
    const {items, ...page} = await fetchPage(connectApi(context), operations.listEnvironments, {}, range, (row) => row);
    // What is no longer there is counted, too.
    return {...page, items: items.filter(({status}) => !isGone(status)).map(targetItem), total: undefined};
  },

  async createTarget({targetSlug, name: displayName = targetSlug, copyFrom}, context: ApiContext) {
    const send = connectApi(context);
    const response =
      copyFrom === undefined
        ? await send(operations.createEnvironment, {}, {json: {displayName}})
        : await send(operations.cloneEnvironment, {}, {json: {sourceEnvironmentId: copyFrom, displayName, ...copied}});
    const {answer, raw} = readAnswer(response, operations.createEnvironment);
    return {...targetItem(answer), raw};
  },

  async deleteTarget({targetSlug: environmentId}, context: ApiContext) {
    readAcceptance(await connectApi(context)(operations.deleteEnvironment, {environmentId}));
  },

  /** All of them are in one answer, whose values nobody needs. */
  async listVariables({targetSlug: environmentId}, context: ApiContext) {
    const response = await connectApi(context)(operations.listVariables, {environmentId});
    const {answer} = readAnswer(response, operations.listVariables);
    const items = Object.entries(answer).map(([name, variable]) => {
      const {publishingStatus: status, lastModified: updatedAt, lastModifiedBy: updatedBy} = variable;
      return listedVariable(name, {status, updatedAt, updatedBy});
    });
    return {items, total: items.length};
  },

  async listProjects(range, context: ApiContext) {
    return fetchPage(connectApi(context), operations.listStorefronts, {}, range, ({storefrontId, storefrontName}) => ({
      projectSlug: storefrontId,
      name: storefrontName,
    }));
  },

  ...configurationMembers(
    'api',
    {...operations, getTarget: operations.getEnvironment},
    connectApi,
    (environmentId) => ({
      environmentId,
    }),
  ),

  async setVariables({targetSlug: environmentId, ...changes}, context: ApiContext) {
    const json = variablesBody(changes);
    readAcceptance(await connectApi(context)(operations.setVariables, {environmentId}, {json}));
  },

  async invalidate({targetSlug: environmentId, pattern}, context: ApiContext) {
    refuseInnerWildcard(pattern);
    readAcceptance(await connectApi(context)(operations.invalidate, {environmentId}, {json: {pattern}}));
  },
} satisfies Partial<HostBackend<ApiBackendOptions>>;

/** The service takes a prefix, and ignores what follows the first `*`: it would clear more than was asked for. */
function refuseInnerWildcard(pattern: string): void {
  const prefix = pattern.split('*', 1)[0] ?? '';
  if (pattern.length <= prefix.length + 1) return;
  throw createError(
    'ERR_OPTION_INVALID',
    `${pattern} cannot be invalidated: the Runtime (OAuth) backend would clear everything that begins with ${prefix}.`,
    {suggestions: [`If that is what you want, pass "${prefix}*".`]},
  );
}

const states = new Map<unknown, TargetState>([
  ['building', 'creating'],
  ['ready', 'ready'],
  ['build_failed', 'failed'],
  ['deleting', 'deleting'],
]);

/** A service may list what is no longer there. */
const isGone = (status: unknown) => status === 'deleted' || status === 'delete_failed';

/** Visitors use the host name of the environment, or else that of its storefront. */
function targetItem(row: v.InferOutput<typeof apiSchemas.ApiEnvironment>): TargetItem {
  const {environmentId: targetSlug, displayName: name, status, isProduction: production, creationDate, mrtOrigin} = row;
  const host = row.ssrExternalHostname || row.defaultEcdnHostname || undefined;
  const url = row.url ?? (host === undefined ? mrtOrigin : `https://${host}`);
  return {targetSlug, name, state: states.get(status), production, createdAt: creationDate, url};
}
