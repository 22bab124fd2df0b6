// What the steps of action.yml ask GitHub with: the token is in TOKEN.
import {env} from 'node:process';

/** The page of this run of the workflow. */
export const logUrl = `${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY}/actions/runs/${env.GITHUB_RUN_ID}`;

/** Asks the API of GitHub. `permission`: what the job needs. */
export function gitHub(permission) {
  return async function ask(method, path, json) {
    const response = await fetch(env.GITHUB_API_URL + path, {
      method,
      headers: {accept: 'application/vnd.github+json', authorization: `Bearer ${env.TOKEN}`},
      body: JSON.stringify(json),
      signal: AbortSignal.timeout(30_000),
    });
    if (response.ok) return response.json();
    const hint = response.status === 403 ? ` Give the job the permission ${permission}.` : '';
    throw new Error(`GitHub answered ${response.status} to ${method} ${path}.${hint}`);
  };
}
