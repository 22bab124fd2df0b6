type Environment = Readonly<Record<string, string | undefined>>;

/** A run of a CI system. */
export interface CiRun {
  /** `GitHub Actions`, for example; undefined if only `CI` is set. */
  readonly system?: string | undefined;
  /** http(s) URL of the run. */
  readonly url?: string | undefined;
  /** The branch that it builds; undefined for pull requests and tags. */
  readonly branch?: string | undefined;
  /** The commit that it builds. */
  readonly commit?: string | undefined;
}

interface CiSystem extends Required<Pick<CiRun, 'system'>> {
  /** The variable that only this system sets. */
  readonly variable: string;
  readonly run: (env: Environment) => Omit<CiRun, 'system'>;
}

const heads = 'refs/heads/';
const branchOf = (ref: string | undefined) => (ref?.startsWith(heads) ? ref.slice(heads.length) : undefined);
/** Parts joined to a URL, unless one is missing. */
const joined = (...parts: readonly (string | undefined)[]) =>
  parts.some((part) => part === undefined || part === '') ? undefined : parts.join('');

const systems: readonly CiSystem[] = [
  {
    system: 'GitHub Actions',
    variable: 'GITHUB_ACTIONS',
    run: (env) => ({
      url: joined(env['GITHUB_SERVER_URL'], '/', env['GITHUB_REPOSITORY'], '/actions/runs/', env['GITHUB_RUN_ID']),
      branch: branchOf(env['GITHUB_REF']),
      commit: env['GITHUB_SHA'],
    }),
  },
  {
    system: 'GitLab CI',
    variable: 'GITLAB_CI',
    run: (env) => ({
      url: env['CI_JOB_URL'] ?? env['CI_PIPELINE_URL'],
      branch: env['CI_COMMIT_BRANCH'],
      commit: env['CI_COMMIT_SHA'],
    }),
  },
  {
    system: 'Jenkins',
    variable: 'JENKINS_URL',
    run: (env) => ({
      url: env['BUILD_URL'],
      // BRANCH_NAME of a pull request is PR-7; CHANGE_ID is its number.
      branch:
        env['CHANGE_ID'] === undefined
          ? (env['BRANCH_NAME'] ?? env['GIT_BRANCH']?.replace(/^origin\//, ''))
          : undefined,
      commit: env['GIT_COMMIT'],
    }),
  },
  {
    system: 'CircleCI',
    variable: 'CIRCLECI',
    run: (env) => ({
      url: env['CIRCLE_BUILD_URL'],
      branch: env['CIRCLE_PR_NUMBER'] === undefined ? env['CIRCLE_BRANCH'] : undefined,
      commit: env['CIRCLE_SHA1'],
    }),
  },
  {
    system: 'Buildkite',
    variable: 'BUILDKITE',
    run: (env) => ({
      url: env['BUILDKITE_BUILD_URL'],
      branch: (env['BUILDKITE_PULL_REQUEST'] ?? 'false') === 'false' ? env['BUILDKITE_BRANCH'] : undefined,
      commit: env['BUILDKITE_COMMIT'],
    }),
  },
  {
    system: 'Azure Pipelines',
    variable: 'TF_BUILD',
    run: (env) => ({
      url: joined(
        env['SYSTEM_COLLECTIONURI'],
        env['SYSTEM_TEAMPROJECT'] && encodeURIComponent(env['SYSTEM_TEAMPROJECT']),
        '/_build/results?buildId=',
        env['BUILD_BUILDID'],
      ),
      branch: branchOf(env['BUILD_SOURCEBRANCH']),
      commit: env['BUILD_SOURCEVERSION'],
    }),
  },
  {
    system: 'Bitbucket Pipelines',
    variable: 'BITBUCKET_BUILD_NUMBER',
    run: (env) => ({
      url: joined(env['BITBUCKET_GIT_HTTP_ORIGIN'], '/addon/pipelines/home#!/results/', env['BITBUCKET_BUILD_NUMBER']),
      branch: env['BITBUCKET_PR_ID'] === undefined ? env['BITBUCKET_BRANCH'] : undefined,
      commit: env['BITBUCKET_COMMIT'],
    }),
  },
];

/** The run of a CI system that `env` belongs to. Undefined outside CI. */
export function ciRunOf(env: Environment): CiRun | undefined {
  const found = systems.find(({variable}) => isSet(env[variable]));
  if (found === undefined) return isSet(env['CI']) ? {} : undefined;
  const {url, ...run} = found.run(env);
  return {system: found.system, ...run, url: webUrl(url)};
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false'].includes(value.trim().toLowerCase());
}

/** An http(s) URL without credentials. */
function webUrl(value: string | undefined): string | undefined {
  if (value === undefined || !URL.canParse(value)) return undefined;
  const url = new URL(value);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined;
  url.username = '';
  url.password = '';
  return url.href;
}
