import * as v from 'valibot';
import {createError} from '../errors/index.js';
import {answerSchemas} from './answer-schemas.js';
import {callBackend} from './call.js';
import type {Backend} from './contract.js';
import {withTimeout, pluginTimeoutMs} from './with-timeout.js';

/**
 * The backend of a plugin, with its answers checked: what does not have the shape of the contract is an error that
 * names backend and plugin, not a failure somewhere in the host. What it says of itself is copied: it cannot change.
 */
export function checkedBackend(backend: Backend, plugin: string): Backend {
  const {uploadStream, deploy, getDeployment, listBundles, listDeployments, download, deleteBundle} = backend;
  const answered = async <Answer>(
    member: keyof typeof answerSchemas,
    doing: string,
    call: () => Promise<Answer>,
  ): Promise<Answer> => {
    const answer = await call();
    const {issues} = v.safeParse(answerSchemas[member], answer);
    if (issues) throw wrongAnswer(backend, plugin, doing, issues);
    return answer;
  };
  return {
    apiVersion: backend.apiVersion,
    name: backend.name,
    summary: backend.summary,
    formats: [...backend.formats],
    capabilities: [...backend.capabilities],
    secrets: backend.secrets && [...backend.secrets],
    options: checkedOptions(backend),
    check: (context) => {
      const doing = 'checking its configuration';
      return answered('check', doing, () => withoutNetwork(backend, doing, async () => backend.check(context)));
    },
    upload: (bundle, context) => answered('upload', 'uploading', () => backend.upload(bundle, context)),
    ...(uploadStream && {
      uploadStream: (bundle, context) =>
        answered('upload', 'uploading', () => uploadStream.call(backend, bundle, context)),
    }),
    ...(deploy && {
      deploy: (request, context) => answered('deploy', 'deploying', () => deploy.call(backend, request, context)),
    }),
    ...(getDeployment && {
      getDeployment: (ref, context) =>
        answered('getDeployment', 'looking at a deployment', () => getDeployment.call(backend, ref, context)),
    }),
    ...(listBundles && {
      listBundles: (range, context) =>
        answered('listBundles', 'listing bundles', () => listBundles.call(backend, range, context)),
    }),
    ...(listDeployments && {
      listDeployments: (request, context) =>
        answered('listDeployments', 'listing deployments', () => listDeployments.call(backend, request, context)),
    }),
    ...(download && {download: (request, context) => download.call(backend, request, context)}),
    ...(deleteBundle && {deleteBundle: (request, context) => deleteBundle.call(backend, request, context)}),
  };
}

/** The schema of a plugin, which may throw where it should tell of issues. */
function checkedOptions(backend: Backend): Backend['options'] {
  const standard = backend.options?.['~standard'];
  if (!standard) return undefined;
  const validate: typeof standard.validate = (value) =>
    withoutNetwork(backend, 'checking its options', async () => standard.validate(value));
  return {'~standard': {version: 1, vendor: standard.vendor, validate}};
}

/** Calls what has no network to wait for: it is not aborted, but must not keep the command waiting either. */
function withoutNetwork<Result>(backend: Backend, doing: string, call: () => Promise<Result>): Promise<Result> {
  const {signal} = new AbortController();
  return callBackend(backend, doing, signal, () => withTimeout(call(), pluginTimeoutMs, signal));
}

function wrongAnswer({name}: Backend, plugin: string, doing: string, issues: readonly v.BaseIssue<unknown>[]): Error {
  const problems = issues.map((issue) => [v.getDotPath(issue), issue.message].filter(Boolean).join(': '));
  return createError(
    'ERR_BACKEND_FAILED',
    `the ${name} backend of ${plugin} answered wrongly when ${doing}: ${problems.join('; ')}`,
    {
      suggestions: [`This is a fault of the plugin ${plugin}: report it there.`],
      details: {backend: name, plugin, problems},
    },
  );
}
