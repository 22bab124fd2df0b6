import type {BundleProvenance} from '../types.js';
import type {Environment} from '../../text/platform.js';

/** A run of a CI system. */
export interface CiRun extends NonNullable<BundleProvenance['ci']> {
  /** The branch that it builds; undefined for pull requests and tags. */
  readonly branch?: string | undefined;
  readonly commit?: string | undefined;
}

interface CiSystem {
  readonly system: string;
  /** The variable that only this system sets. */
  readonly mark: string;
  /** Variables in braces; the URL is unknown if one is missing. */
  readonly url: string;
  /** Variables with the branch or its ref, the first that is set. */
  readonly branch: readonly string[];
  readonly commit: string;
  /** Variable that is set for a pull request, whose branch is not one that is built. */
  readonly pullRequest?: string;
}

const systems: readonly CiSystem[] = [
  {
    system: 'GitHub Actions',
    mark: 'GITHUB_ACTIONS',
    url: '{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}',
    branch: ['GITHUB_REF'],
    commit: 'GITHUB_SHA',
  },
  {system: 'GitLab CI', mark: 'GITLAB_CI', url: '{CI_JOB_URL}', branch: ['CI_COMMIT_BRANCH'], commit: 'CI_COMMIT_SHA'},
  {
    system: 'Jenkins',
    mark: 'JENKINS_URL',
    url: '{BUILD_URL}',
    branch: ['BRANCH_NAME', 'GIT_BRANCH'],
    commit: 'GIT_COMMIT',
    pullRequest: 'CHANGE_ID',
  },
  {
    system: 'CircleCI',
    mark: 'CIRCLECI',
    url: '{CIRCLE_BUILD_URL}',
    branch: ['CIRCLE_BRANCH'],
    commit: 'CIRCLE_SHA1',
    pullRequest: 'CIRCLE_PR_NUMBER',
  },
  {
    system: 'Buildkite',
    mark: 'BUILDKITE',
    url: '{BUILDKITE_BUILD_URL}',
    branch: ['BUILDKITE_BRANCH'],
    commit: 'BUILDKITE_COMMIT',
    pullRequest: 'BUILDKITE_PULL_REQUEST',
  },
  {
    system: 'Azure Pipelines',
    mark: 'TF_BUILD',
    url: '{SYSTEM_COLLECTIONURI}{SYSTEM_TEAMPROJECT}/_build/results?buildId={BUILD_BUILDID}',
    branch: ['BUILD_SOURCEBRANCH'],
    commit: 'BUILD_SOURCEVERSION',
  },
  {
    system: 'Bitbucket Pipelines',
    mark: 'BITBUCKET_BUILD_NUMBER',
    url: '{BITBUCKET_GIT_HTTP_ORIGIN}/addon/pipelines/home#!/results/{BITBUCKET_BUILD_NUMBER}',
    branch: ['BITBUCKET_BRANCH'],
    commit: 'BITBUCKET_COMMIT',
    pullRequest: 'BITBUCKET_PR_ID',
  },
];

/** The run of a CI system that `env` belongs to. Undefined outside CI. */
export function ciRunOf(env: Environment): CiRun | undefined {
  const found = systems.find(({mark}) => isSet(env[mark]));
  if (found === undefined) return isSet(env['CI']) ? {} : undefined;
  const {system, url, branch, commit, pullRequest} = found;
  const isPullRequest = pullRequest !== undefined && isSet(env[pullRequest]);
  return {
    system,
    url: webUrl(url, env),
    branch: isPullRequest ? undefined : branchOf(branch.map((name) => env[name]).find(isSet)),
    commit: env[commit],
  };
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false'].includes(value.trim().toLowerCase());
}

/** A branch, from its name or its ref. A ref of something else has none. */
function branchOf(name: string | undefined): string | undefined {
  const branch = name?.replace(/^(?:refs\/heads|origin)\//, '');
  return branch?.startsWith('refs/') ? undefined : branch;
}

/** The http(s) URL that a template makes, without credentials. */
function webUrl(template: string, env: Environment): string | undefined {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  if (names.some((name) => !env[name])) return undefined;
  const text = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => env[name] ?? '');
  if (!/^https?:/.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  url.username = '';
  url.password = '';
  return url.href;
}
