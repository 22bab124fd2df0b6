import type * as v from 'valibot';
import {amendError, isRuntimeCliError} from '../../errors/index.js';
import type {AnsweredResponse} from '../../http/types.js';
import {api} from '../../wire/api.js';
import type {targetSchemas} from '../../wire/targets.js';
import {
  checkNewTarget,
  fetchPage,
  listedVariable,
  readAcceptance,
  readAnswer,
  unlessLacking,
  variableChanges,
} from '../answers.js';
import type {
  BackendCapability,
  CreateTargetRequest,
  CreateTargetResult,
  ListRange,
  ListResult,
  SetVariablesRequest,
  TargetItem,
  VariableItem,
} from '../contract.js';
import type {TargetState} from '../references.js';
import type {ApiContext} from './connection.js';
import {connect, partsOf} from './requests.js';

const {operations} = api;

type OfTarget = {readonly targetSlug: string};

export async function listTargets(range: ListRange, context: ApiContext): Promise<ListResult<TargetItem>> {
  const page = fetchPage(connect(context), operations.listEnvironments, {}, range, partsOf, targetItem);
  return ofEnvironments(page, 'targets', [404, 405]);
}

/** The service makes the ID. What was asked for is its name. */
export async function createTarget(request: CreateTargetRequest, context: ApiContext): Promise<CreateTargetResult> {
  const {targetSlug, name: displayName = targetSlug, copyFrom} = request;
  checkNewTarget({...request, name: displayName});
  const send = connect(context);
  const [operation, json] =
    copyFrom === undefined
      ? [operations.createEnvironment, {displayName}]
      : [
          operations.cloneEnvironment,
          {sourceEnvironmentId: copyFrom, displayName, cloneEnvironmentVariables: true, cloneRedirects: true},
        ];
  const missing = copyFrom === undefined ? [404, 405] : [405];
  const response = await ofEnvironments(send(operation, {}, {json}), 'create-target', missing);
  const {answer, raw} = readAnswer(response, operation);
  return {...targetItem(answer), raw};
}

export async function deleteTarget({targetSlug}: OfTarget, context: ApiContext): Promise<void> {
  const request = connect(context)(operations.deleteEnvironment, {environmentId: targetSlug});
  readAcceptance(await ofEnvironments(request, 'delete-target'), ['environmentId']);
}

/** All of them are in one answer, whose values nobody needs. */
export async function listVariables(
  {targetSlug}: ListRange & OfTarget,
  context: ApiContext,
): Promise<ListResult<VariableItem>> {
  const request = connect(context)(operations.listVariables, {environmentId: targetSlug});
  const response = await ofEnvironments(request, 'variables');
  const {answer} = readAnswer(response, operations.listVariables);
  const items = Object.entries(answer).map(([name, variable]) => {
    const {publishingStatus: status, lastModified: updatedAt, lastModifiedBy: updatedBy} = variable;
    return listedVariable(name, {status, updatedAt, updatedBy});
  });
  return {items, total: items.length};
}

export async function setVariables({targetSlug, ...changes}: SetVariablesRequest, context: ApiContext): Promise<void> {
  const json = variableChanges(changes);
  const request = connect(context)(operations.setVariables, {environmentId: targetSlug}, {json});
  readAcceptance(await ofEnvironments(request, 'set-variables'), []);
}

export async function invalidate(
  {targetSlug, pattern}: OfTarget & {readonly pattern: string},
  context: ApiContext,
): Promise<void> {
  const request = connect(context)(operations.invalidate, {environmentId: targetSlug}, {json: {pattern}});
  readAcceptance(await ofEnvironments(request, 'invalidate'), []);
}

/** Environments have scopes of their own, which many clients lack that may deploy. */
async function ofEnvironments<Result>(
  request: Promise<Result | AnsweredResponse>,
  capability: BackendCapability,
  missing: readonly number[] = [405],
): Promise<Result> {
  try {
    return (await unlessLacking(request, 'api', capability, missing)) as Result;
  } catch (error) {
    if (!isRuntimeCliError(error) || error.code !== 'ERR_FORBIDDEN') throw error;
    throw amendError(error, {
      suggestions: [
        'The client needs a scope for environments: one that ends with .environments to read them, or with .environments.rw to change them. Add it to the client, and to --scopes.',
      ],
    });
  }
}

const states = new Map<unknown, TargetState>([
  ['building', 'creating'],
  ['ready', 'ready'],
  ['build_failed', 'failed'],
  ['deleting', 'deleting'],
]);

function targetItem(row: v.InferOutput<typeof targetSchemas.ApiEnvironment>): TargetItem {
  const {environmentId: targetSlug, displayName: name, status, isProduction: production, creationDate, mrtOrigin} = row;
  return {targetSlug, name, state: states.get(status), production, createdAt: creationDate, url: mrtOrigin};
}
