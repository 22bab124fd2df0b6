import type {Bundle} from '../types.js';

/** The type of every in-toto statement. */
export const statementType = 'https://in-toto.io/Statement/v1';

/** An unsigned in-toto statement (v1) with SLSA provenance (v1). */
export interface ProvenanceStatement {
  readonly _type: typeof statementType;
  readonly subject: readonly {readonly name: string; readonly digest: {readonly sha256: string}}[];
  readonly predicateType: 'https://slsa.dev/provenance/v1';
  readonly predicate: {
    readonly buildDefinition: {
      readonly buildType: string;
      readonly externalParameters: Readonly<Record<string, unknown>>;
      readonly internalParameters: Readonly<Record<string, unknown>>;
      readonly resolvedDependencies: readonly ResourceDescriptor[];
    };
    readonly runDetails: {
      readonly builder: {readonly id: string; readonly version: Readonly<Record<string, string>>};
      readonly metadata: {readonly invocationId?: string; readonly finishedOn: string};
    };
  };
}

interface ResourceDescriptor {
  readonly uri?: string;
  readonly digest: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, unknown>>;
}

/** What the types of this statement are called; not an address to be fetched. */
const buildType = 'https://mycli.invalid/bundle-build/v1';
const localBuilder = 'https://mycli.invalid/builder/local';

/** What `createStatement` needs to know besides the bundle. */
interface StatementFacts {
  /** File name of the archive. */
  readonly name: string;
  /** Name and version of the builder. */
  readonly version: string;
  readonly finishedOn: Date;
}

/** States where an archive comes from. Nobody has signed it: it says what the build says of itself. */
export function createStatement(bundle: Bundle, {name, version, finishedOn}: StatementFacts): ProvenanceStatement {
  const {provenance = {}, format, projectSlug, rootDir, configPath, matchMode, message, contentSha256} = bundle;
  const {commit, branch, repository, dirty, author, ci} = provenance;
  const uri = repository && `git+${repository}${branch === undefined ? '' : `@refs/heads/${branch}`}`;
  const source =
    commit === undefined ? [] : [{...(uri && {uri}), digest: {gitCommit: commit}, annotations: {dirty, author}}];
  return {
    _type: statementType,
    subject: [{name, digest: {sha256: bundle.sha256}}],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType,
        externalParameters: {format, projectSlug, rootDir, configPath, matchMode, message},
        internalParameters: {contentSha256},
        resolvedDependencies: source,
      },
      runDetails: {
        builder: {id: ci?.url === undefined ? localBuilder : new URL(ci.url).origin, version: {mycli: version}},
        metadata: {...(ci?.url && {invocationId: ci.url}), finishedOn: finishedOn.toISOString()},
      },
    },
  };
}
