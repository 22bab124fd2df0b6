import type * as v from 'valibot';
import {api, type apiSchemas} from '../../wire/api.js';
import {checkNewTarget, fetchPage, listedVariable, readAcceptance, readAnswer, variablesBody} from '../answers.js';
import type {HostBackend} from '../host-backend.js';
import type {TargetItem} from '../contract.js';
import type {TargetState} from '../references.js';
import type {ApiBackendOptions, ApiContext} from './connection.js';
import {connectApi} from './requests.js';

const {operations} = api;

/** What the backend can do with environments, which are its targets. */
export const environmentMembers = {
  /** The service makes the ID. What was asked for is its name. */
  targetSlugs: 'assigned',

  async listTargets(range, context: ApiContext) {
    return fetchPage(connectApi(context), operations.listEnvironments, {}, range, targetItem);
  },

  async createTarget({targetSlug, name: displayName = targetSlug, copyFrom}, context: ApiContext) {
    checkNewTarget({targetSlug, name: displayName});
    const send = connectApi(context);
    const copy = {cloneEnvironmentVariables: true, cloneRedirects: true};
    const response =
      copyFrom === undefined
        ? await send(operations.createEnvironment, {}, {json: {displayName}})
        : await send(operations.cloneEnvironment, {}, {json: {sourceEnvironmentId: copyFrom, displayName, ...copy}});
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

  async setVariables({targetSlug: environmentId, ...changes}, context: ApiContext) {
    const json = variablesBody(changes);
    readAcceptance(await connectApi(context)(operations.setVariables, {environmentId}, {json}));
  },

  async invalidate({targetSlug: environmentId, pattern}, context: ApiContext) {
    readAcceptance(await connectApi(context)(operations.invalidate, {environmentId}, {json: {pattern}}));
  },
} satisfies Partial<HostBackend<ApiBackendOptions>>;

const states = new Map<unknown, TargetState>([
  ['building', 'creating'],
  ['ready', 'ready'],
  ['build_failed', 'failed'],
  ['deleting', 'deleting'],
]);

function targetItem(row: v.InferOutput<typeof apiSchemas.ApiEnvironment>): TargetItem {
  const {environmentId: targetSlug, displayName: name, status, isProduction: production, creationDate, mrtOrigin} = row;
  return {targetSlug, name, state: states.get(status), production, createdAt: creationDate, url: mrtOrigin};
}
