/** The backends of this package. Not derived from `built-in-backends.ts`, which would load them. */
const builtInNames = ['api', 'legacy'] as const;
export type BuiltInName = (typeof builtInNames)[number];

/** The name of a backend: a built-in one, or one that a plugin registered. */
export type RuntimeBackend = 'api' | 'legacy' | (string & Record<never, never>);

/** A backend as users read it who have not chosen it by its name. */
export function backendTitle(name: RuntimeBackend): string {
  if (name === 'legacy') return 'Runtime (API key)';
  return name === 'api' ? 'Runtime (OAuth)' : name;
}

/** Where a bundle is: `shop`, or `shop (acme)` at the backend of a plugin. */
export function projectTitle(projectSlug: string, backend: RuntimeBackend): string {
  return isBuiltIn(backend) ? projectSlug : `${projectSlug} (${backend})`;
}

/** Which backend to use. `auto`: Api if there is a connection, else legacy. */
export type RuntimeBackendPreference = 'auto' | RuntimeBackend;

/** Whether a backend is part of this package: no plugin is loaded for it. */
export function isBuiltIn(backend: RuntimeBackend): backend is BuiltInName {
  return builtInNames.some((name) => name === backend);
}

/** The name of a plugin's backend that no other plugin's can have. */
export function qualifiedName(plugin: string, backend: string): string {
  return `${plugin}/${backend}`;
}

/** Whether a preference can select a built-in backend: `auto` can select both. */
export function mayUse(preference: RuntimeBackendPreference, backend: BuiltInName): boolean {
  return preference === backend || preference === 'auto';
}
