/** A row of frameworks.ts: one way of building with a framework. */
export interface Framework {
  /** Also the name of its project in test/frameworks/zoo/projects.ts. */
  readonly id: string;
  /** What people call it. Rows of one framework share their name. */
  readonly name: string;
  /** Which way of building it this row is, for the guide: `adapter-node`. */
  readonly variant?: string;
  /** Any of these in package.json identifies the framework. A name that begins with `/` has any scope or none. */
  readonly packages: readonly string[];
  /** Its configuration, which identifies it where a workspace keeps the packages elsewhere. */
  readonly configFile?: RegExp;
  /** A text in that file, where others call theirs so, too. */
  readonly configText?: RegExp;
  /** Whether others build on it, or are documented by it: it is only looked for in a project of no other framework. */
  readonly isBase?: boolean;
  /** A package, unless the configuration has a text, or a text in it, that tells this row before there is a build. */
  readonly setting?: {readonly packages: readonly string[]; readonly unless?: RegExp} | {readonly text: RegExp};
  /** The command that builds it, unless package.json has a `build` script. Without one, it need not be built. */
  readonly buildCommand?: string;
  /** Relative to the project. `*` stands for one folder, whose name the project chooses. */
  readonly buildDirectory: string;
  /** The folder in this row's paths that `setting`, in the configuration or the build script, gives another name. */
  readonly output?: {readonly folder: string; readonly setting: RegExp};
  /** Paths in the build, any of which tells the row from others of the framework. Of a list, all of them together. */
  readonly marks: readonly (string | readonly string[])[];
  /** Paths that together are found in no build of another framework, whatever package.json says. */
  readonly signature?: readonly string[];
  /** Whether the build may repeat the folders of a workspace above the application. `signature` tells where it is. */
  readonly isNested?: boolean;
  /** A file of the build that names its entry (`serverEntry`) and its public folder (`publicDir`). */
  readonly manifest?: string;
  /** Whether the build has no server code. */
  readonly static: boolean;
  /** Folders of the build that browsers may fetch. All else in a build with a server is the server's. */
  readonly public?: readonly string[];
  /** Instead of `public`, the lists of the framework's own client, which a project's own lists extend. */
  readonly lists?: {readonly ssrOnly: readonly string[]; readonly ssrShared: readonly string[]};
  /** Whether its builds have source maps beside public scripts, or its own client publishes those. */
  readonly sourceMaps?: boolean;
  /** Folders of the project that the build needs and does not contain by itself, and where they go in the build. */
  readonly copies?: readonly {readonly from: string; readonly to: string}[];
  /** What it leaves when it was built in a way that can't be pushed: paths in the project, and what to set. */
  readonly unfit?: {readonly marks: readonly string[]; readonly problem: string; readonly advice: string};
  /** A text in the entry of such a build, unless it has the other one. */
  readonly unfitEntry?: {
    readonly text: RegExp;
    readonly unless?: RegExp;
    readonly problem: string;
    readonly advice: string;
  };
  /** Where the framework's own settings for the Runtime are. */
  readonly ownSettings?: 'pwa-kit' | 'config.server';
  /** What its own client does with a v2 bundle. */
  readonly v2?: {
    /** Its configuration on disk, relative to the build, if it is there. */
    readonly configPath: string;
    readonly matchMode: 'ignore_missing';
    /** What parameters of its settings are called in the bundle. */
    readonly parameterNames: Readonly<Record<string, string>>;
  };
  /** What neither visitors nor its server need, as its own client leaves it out, in the syntax of .bundleignore. */
  readonly ignore?: readonly string[];
  /** The parameters that its own client sends when nothing sets them. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** With these, the command line lists the dependencies as its own client does: these in their lowest version. */
  readonly installed?: readonly string[];
  /** Whether its own client lists, in v1, the files of an extended template that the project overrides. */
  readonly listsOverrides?: boolean;
  /** Modules that start or export the server, the first that exists. */
  readonly entries?: readonly string[];
  /** Whether the entry is a program of the project's own, which only an `ssr.js` beside it makes the Runtime start. */
  readonly isProgram?: boolean;
  /** Variables that its server needs to answer on this machine. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A name below the working directory where its server looks for the build, as the Runtime has it. */
  readonly linkToBuild?: string;
  /** What the paths of its files begin with, besides those in the build. */
  readonly assetPrefix?: RegExp;
  /** The folder of the build that is the root of the site's files. */
  readonly publicFolder?: string;
  /** What the project has to set, for the guide. */
  readonly needs?: string;
}
