export const signalExitCodes = {SIGHUP: 129, SIGINT: 130, SIGTERM: 143} as const;

/** Exit codes by kind of failure. For `interrupted` it depends on the signal. */
export const exitCodes = {
  unexpected: 1,
  usage: 2,
  input: 3,
  credentials: 4,
  'rate-limit': 5,
  network: 6,
  rejected: 7,
  'deployment-failed': 8,
  'wait-timeout': 9,
  'outcome-unknown': 10,
  unhealthy: 11,
  'rolled-back': 12,
  mismatch: 13,
  'not-rolled-back': 14,
  interrupted: signalExitCodes.SIGINT,
} as const;

/** The kind of a failure. It decides the class and the exit code. */
export type ErrorKind = keyof typeof exitCodes;

interface CatalogueEntry {
  readonly kind: ErrorKind;
  /** One sentence for the reference: when this error occurs. */
  readonly summary: string;
}

/** Every error that users can see, by its stable code. All codes are defined here. */
export const catalogue = {
  ERR_USAGE: {
    kind: 'usage',
    summary: 'A flag or argument is missing, unknown or conflicts with another, or a question was answered with no.',
  },
  ERR_COMMAND_NOT_FOUND: {kind: 'usage', summary: 'The command does not exist.'},
  ERR_OPTION_INVALID: {kind: 'input', summary: 'An option or the URL of a service has an invalid value.'},
  ERR_CONFIG_INVALID: {
    kind: 'input',
    summary:
      'A configuration file cannot be read, has an invalid key or value, contains a secret, or belongs to another project.',
  },
  ERR_CONFIG_FOREIGN: {
    kind: 'input',
    summary: 'A configuration belongs to another user, so it is not used, and nothing was changed.',
  },
  ERR_ORIGIN_MISSING: {kind: 'input', summary: 'No URL is set for the hosting service.'},
  ERR_ORIGIN_UNTRUSTED: {
    kind: 'input',
    summary:
      'Credentials would go to an origin that MYCLI_TRUSTED_ORIGINS does not list, or that only a configuration file sets.',
  },
  ERR_CREDENTIALS_MISSING: {kind: 'input', summary: 'The selected backend has no credentials.'},
  ERR_SETUP_INCOMPLETE: {
    kind: 'input',
    summary:
      'Several things that the command needs are missing: project, target, build or credentials. One alone has its own code.',
  },
  ERR_CHECK_FAILED: {kind: 'input', summary: '`mycli doctor` found a problem.'},
  ERR_BACKEND_UNKNOWN: {kind: 'input', summary: 'No backend, or more than one, has this name.'},
  ERR_BACKEND_FAILED: {
    kind: 'rejected',
    summary: 'A backend failed, or returned something its contract does not allow.',
  },
  ERR_CAPABILITY_UNSUPPORTED: {kind: 'input', summary: 'The backend does not support the requested operation.'},
  ERR_BUILD_DIRECTORY: {
    kind: 'input',
    summary: 'The build folder is missing, empty, a file, or has sources instead of a build.',
  },
  ERR_FILE_UNSUPPORTED: {
    kind: 'input',
    summary: 'A file of the build cannot be archived because of its type, its name or its link target.',
  },
  ERR_FILE_CHANGED: {
    kind: 'input',
    summary: 'A file of the build changed, disappeared or became unreadable while it was read.',
  },
  ERR_PATTERN_INVALID: {kind: 'input', summary: 'A glob pattern is invalid, or a list of patterns is empty.'},
  ERR_SSR_ENTRY_MISSING: {kind: 'input', summary: 'The build has no server-only file, or an ignore rule excludes it.'},
  ERR_SSR_ENTRY_PUBLIC: {kind: 'input', summary: 'Server code would be public.'},
  ERR_SENSITIVE_FILES: {
    kind: 'input',
    summary: 'Files whose names suggest secrets, a database or server code in a static site would be public.',
  },
  ERR_BUNDLE_TOO_LARGE: {kind: 'input', summary: 'The bundle exceeds a limit of the backend.'},
  ERR_ARCHIVE_INVALID: {
    kind: 'input',
    summary: 'A prebuilt archive is damaged, is not a bundle or does not match the push.',
  },
  ERR_TOO_MANY_FILES: {kind: 'input', summary: 'The system allows no more open files.'},
  ERR_OUTPUT: {kind: 'input', summary: 'An output file cannot be written.'},
  ERR_PROGRAM_MISSING: {kind: 'input', summary: 'A program that the command needs, such as npm, is not in PATH.'},
  ERR_GIT: {
    kind: 'input',
    summary: 'recordCommit or a guard needs the commit, but git refuses to read the repository.',
  },
  ERR_ENDED_EARLY: {
    kind: 'unexpected',
    summary:
      'Code from a configuration file or a plugin ended the process, threw where nothing catches it, or never finished.',
  },
  ERR_VETOED: {kind: 'input', summary: 'A plugin vetoed the change, so it was not made.'},
  ERR_GUARD_REFUSED: {
    kind: 'input',
    summary: 'A guard of the target refused the deployment: `details.failures` says which. Nothing was changed.',
  },
  ERR_SAFETY: {kind: 'input', summary: '`MYCLI_SAFETY` does not allow the change. Nothing was changed.'},
  ERR_HOOK_FAILED: {
    kind: 'input',
    summary: 'A plugin that must be asked before a change failed, or did not answer in time: the change was not made.',
  },
  ERR_UNAUTHORIZED: {kind: 'credentials', summary: 'The server refused the credentials (401).'},
  ERR_FORBIDDEN: {kind: 'credentials', summary: 'The credentials do not allow this (403).'},
  ERR_OAUTH: {
    kind: 'credentials',
    summary: 'The token endpoint refused the client credentials, or an `AuthStrategy` failed.',
  },
  ERR_RATE_LIMITED: {kind: 'rate-limit', summary: 'The server still rate-limited the request after the last retry.'},
  ERR_NETWORK: {
    kind: 'network',
    summary:
      'The server could not be reached, the connection ended before the request was fully sent, or a firewall or proxy answered instead.',
  },
  ERR_TLS: {
    kind: 'network',
    summary: "No TLS connection: the server's certificate was not accepted, or it does not use TLS.",
  },
  ERR_TIMEOUT: {kind: 'network', summary: 'The transfer stalled.'},
  ERR_REJECTED: {kind: 'rejected', summary: 'The server refused the request (4xx).'},
  ERR_TARGET_BUSY: {kind: 'rejected', summary: 'Another deployment to the target is running. Nothing was deployed.'},
  ERR_BUNDLE_UNKNOWN: {kind: 'rejected', summary: 'The project has no such bundle.'},
  ERR_SERVER: {kind: 'rejected', summary: 'The server failed (5xx).'},
  ERR_MAINTENANCE: {kind: 'rejected', summary: 'The service is read-only for maintenance. Nothing was changed.'},
  ERR_RESPONSE_INVALID: {kind: 'rejected', summary: 'The server returned an invalid response.'},
  ERR_DEPLOYMENT_FAILED: {kind: 'deployment-failed', summary: 'The deployment was accepted and then failed.'},
  ERR_WAIT_TIMEOUT: {kind: 'wait-timeout', summary: 'The deployment, or the target, was not ready before the timeout.'},
  ERR_OUTCOME_UNKNOWN: {
    kind: 'outcome-unknown',
    summary: 'The outcome of a request or deployment could not be determined.',
  },
  ERR_UNHEALTHY: {kind: 'unhealthy', summary: 'The deployment finished, but a check of it failed.'},
  ERR_CHECK_REFUSED: {
    kind: 'unhealthy',
    summary:
      'The deployment finished, but could not be checked: the site asks for a login, or a gateway refused the check.',
  },
  ERR_ROLLED_BACK: {
    kind: 'rolled-back',
    summary: 'The deployment or its check failed, and the target was rolled back.',
  },
  ERR_NOT_ROLLED_BACK: {
    kind: 'not-rolled-back',
    summary: 'The deployment or its check failed, and the target could not be rolled back.',
  },
  ERR_INTERRUPTED: {kind: 'interrupted', summary: 'A signal ended the command.'},
  ERR_UNEXPECTED: {kind: 'unexpected', summary: 'A bug, in mycli or in a plugin.'},
} as const satisfies Readonly<Record<`ERR_${string}`, CatalogueEntry>>;

/** The stable code of an error. */
export type ErrorCode = keyof typeof catalogue;
