import * as v from 'valibot';
import {json, type Answer} from '../answer.js';
import {param, type AdmittedCall, type Protocol} from '../context.js';
import {receiveV1, receiveV2, type AcceptedUpload} from '../upload/receive-bundle.js';
import {validate} from '../validate.js';
import {admitLegacy} from './admission.js';
import {presignedUrl} from './archive-protocol.js';
import {deleteBundle, findBundle} from './find-bundle.js';
import {legacyBundle, legacyDeployment, legacyList, legacyTarget} from './legacy-answers.js';

/** The legacy backend of wire.md. */
export const legacyProtocol: Protocol = {
  prefix: '/api/',
  routes: [
    {method: 'POST', pattern: 'projects/{projectSlug}/builds/', name: 'upload', handle: pushV1},
    {method: 'POST', pattern: 'projects/{projectSlug}/builds/{targetSlug}/', name: 'upload', handle: pushAndDeployV1},
    {method: 'POST', pattern: 'v2/projects/{projectSlug}/bundles/', name: 'upload', handle: pushV2},
    {method: 'GET', pattern: 'projects/{projectSlug}/bundles/', name: 'list', handle: listBundles},
    {method: 'GET', pattern: 'projects/{projectSlug}/bundles/{bundleId}/download/', name: 'download', handle: download},
    {method: 'DELETE', pattern: 'projects/{projectSlug}/bundles/{bundleId}/', name: 'delete', handle: remove},
    {method: 'POST', pattern: 'projects/{projectSlug}/target/{targetSlug}/deploy/', name: 'deploy', handle: deploy},
    {method: 'GET', pattern: 'projects/{projectSlug}/target/{targetSlug}/deploy/', name: 'history', handle: history},
    {method: 'GET', pattern: 'projects/{projectSlug}/target/{targetSlug}/', name: 'target', handle: target},
  ],
  admit: admitLegacy,
  failure: ({status, message, headers}) => json(status, {detail: message}, headers),
};

const deployBodySchema = v.object({bundle_id: v.pipe(v.number(), v.integer())});

async function pushV1(call: AdmittedCall): Promise<Answer> {
  return pushedV1(call, await receiveV1(call));
}

async function pushAndDeployV1(call: AdmittedCall): Promise<Answer> {
  const {deployments} = call.context;
  const targetSlug = param(call, 'targetSlug');
  return deployments.exclusively(param(call, 'projectSlug'), targetSlug, async () => {
    const upload = await receiveV1(call);
    await deployments.start({bundle: upload.bundle, targetSlug, createdBy: call.user, route: 'upload'});
    return pushedV1(call, upload);
  });
}

function pushedV1({origin, params}: AdmittedCall, {bundle, warnings}: AcceptedUpload): Answer {
  const {targetSlug} = params;
  const site = [bundle.projectSlug, ...(targetSlug === undefined ? [] : [targetSlug])].map(encodeURIComponent);
  return json(200, {
    bundle_id: bundle.id,
    message: bundle.message,
    url: targetSlug === undefined ? `${origin}/` : `${origin}/${site.join('/')}/`,
    bundle_preview_url: null,
    warnings,
  });
}

async function pushV2(call: AdmittedCall): Promise<Answer> {
  const {bundle, warnings, matches} = await receiveV2(call, param(call, 'projectSlug'));
  return json(201, {id: bundle.id, warnings, matches});
}

function listBundles(call: AdmittedCall): Answer {
  const {store, deployments} = call.context;
  const bundles = store.bundles(param(call, 'projectSlug'));
  return legacyList(call, bundles, (bundle) => legacyBundle(bundle, deployments.targetsServing(bundle)));
}

function download(call: AdmittedCall): Answer {
  const bundle = findBundle(call, param(call, 'projectSlug'), Number(param(call, 'bundleId')));
  return json(200, {download_url: presignedUrl(bundle, call)});
}

async function remove(call: AdmittedCall): Promise<Answer> {
  await deleteBundle(call, findBundle(call, param(call, 'projectSlug'), Number(param(call, 'bundleId'))));
  return {status: 204};
}

async function deploy(call: AdmittedCall): Promise<Answer> {
  const {deployments} = call.context;
  const [projectSlug, targetSlug] = [param(call, 'projectSlug'), param(call, 'targetSlug')];
  const body = validate(deployBodySchema, await call.body.json(), {status: 400, what: 'The body'});
  const bundle = findBundle(call, projectSlug, body.bundle_id);
  await deployments.exclusively(projectSlug, targetSlug, () =>
    deployments.start({bundle, targetSlug, createdBy: call.user, route: 'deploy'}),
  );
  return json(201, {warnings: []});
}

function history(call: AdmittedCall): Answer {
  const {store, now} = call.context;
  const time = now();
  const deployments = store.deployments(param(call, 'projectSlug'), param(call, 'targetSlug'));
  return legacyList(call, deployments, (deployment) => legacyDeployment(deployment, time));
}

function target(call: AdmittedCall): Answer {
  const {store, now} = call.context;
  const targetSlug = param(call, 'targetSlug');
  return legacyTarget(targetSlug, store.deployments(param(call, 'projectSlug'), targetSlug), now());
}
