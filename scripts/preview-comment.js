// Shows the preview of a pull request in a comment, which every run of the workflow renews. Run by action.yml in a step
// of its own: the token is not for code of the project. A comment that fails is only a warning.
import {readFile} from 'node:fs/promises';
import {env} from 'node:process';
import {gitHub, logUrl} from './github.js';

const {pull_request: pull} = JSON.parse(await readFile(env.GITHUB_EVENT_PATH, 'utf8'));
const comments = `/repos/${env.GITHUB_REPOSITORY}/issues/${pull?.number}/comments`;
const pageSize = 100;

// A workflow may have previews of several projects.
const place = [env.INPUT_PROJECT, env.INPUT_WORKING_DIRECTORY].filter(Boolean).join(' ');
const marker = `<!-- mycli-preview ${encodeURIComponent(place)} -->`;

function bodyOf({INPUT_PREVIEW: preview, OUTCOME: outcome, URL: url, GITHUB_SHA: sha}) {
  const log = `[Log](${logUrl})`;
  const title = `**Preview${place === '' ? '' : ` of ${place}`}**`;
  const commit = pull.head?.sha ?? sha;
  if (preview === 'down') return `${title}: ${outcome === 'success' ? 'deleted' : 'could not be deleted'}. ${log}`;
  if (outcome !== 'success') return `${title}: ${commit} could not be deployed. ${log}`;
  return `${title}: ${url === '' ? 'deployed' : url}\n\nRuns ${commit}. ${log}`;
}

const ask = gitHub('pull-requests: write');

const defaultAuthor = 'github-actions[bot]';

/** Whom the token belongs to: the default one, or that of a person or of another app. */
async function findAuthor() {
  const query = JSON.stringify({query: 'query { viewer { login } }'});
  const headers = {authorization: `Bearer ${env.TOKEN}`};
  const answer = await fetch(env.GITHUB_GRAPHQL_URL, {method: 'POST', headers, body: query})
    .then((response) => response.json())
    .catch(() => undefined);
  return answer?.data?.viewer?.login ?? defaultAuthor;
}

/** Anyone can begin a comment with the marker. That of somebody else stays as it is. */
async function findOwn() {
  let author;
  for (let page = 1; ; page += 1) {
    const rows = await ask('GET', `${comments}?per_page=${pageSize}&page=${page}`);
    for (const row of rows.filter(({body}) => body?.startsWith(marker))) {
      const {login} = row.user ?? {};
      if (login === defaultAuthor) return row;
      author ??= await findAuthor();
      if (login === author || login === `${author}[bot]`) return row;
    }
    if (rows.length < pageSize) return undefined;
  }
}

async function comment() {
  const own = await findOwn();
  const json = {body: `${marker}\n${bodyOf(env)}`};
  if (own !== undefined) await ask('PATCH', `/repos/${env.GITHUB_REPOSITORY}/issues/comments/${own.id}`, json);
  // Of a preview that was never up, there is nothing to say.
  else if (env.INPUT_PREVIEW === 'up') await ask('POST', comments, json);
}

if (pull !== undefined) {
  await comment().catch(({message}) => console.log(`::warning::The pull request has no comment: ${message}`));
}
