// Shows a deployment on the page of the repository: an environment for each target. Run by action.yml in a step of its
// own: the token is not for code of the project. A deployment that cannot be shown is only a warning.
import {readFile} from 'node:fs/promises';
import {env} from 'node:process';
import {gitHub, logUrl} from './github.js';

const ask = gitHub('deployments: write');
const deployments = `/repos/${env.GITHUB_REPOSITORY}/deployments`;

async function show(environment) {
  const {pull_request: pull} = JSON.parse(await readFile(env.GITHUB_EVENT_PATH, 'utf8'));
  const {id} = await ask('POST', deployments, {
    ref: pull?.head?.sha ?? env.GITHUB_SHA,
    environment,
    transient_environment: env.INPUT_PREVIEW === 'up',
    auto_merge: false,
    required_contexts: [],
  });
  const isDone = env.OUTCOME === 'success';
  // Without waiting for it, it has only been accepted.
  const state = !isDone ? 'failure' : env.STATUS === 'finished' ? 'success' : 'queued';
  await ask('POST', `${deployments}/${id}/statuses`, {state, environment_url: isDone ? env.URL : '', log_url: logUrl});
}

/** A preview that is deleted runs nothing any more. */
async function end(environment) {
  const all = await ask('GET', `${deployments}?environment=${encodeURIComponent(environment)}&per_page=100`);
  for (const {id} of all) await ask('POST', `${deployments}/${id}/statuses`, {state: 'inactive', log_url: logUrl});
}

const branch = env.GITHUB_HEAD_REF || env.GITHUB_REF_NAME;
const environment = env.INPUT_PREVIEW ? `preview/${branch}` : env.TARGET_SLUG || env.INPUT_TARGET;
try {
  if (env.INPUT_PREVIEW !== 'down') {
    // Without a target, nothing was deployed.
    if (environment) await show(environment);
  } else if (env.OUTCOME === 'success') await end(environment);
} catch ({message}) {
  console.log(`::warning::The deployment is not shown on GitHub: ${message}`);
}
