/** What keeps `value` from being plain JSON, with its place below `name`; undefined when nothing does. */
export function plainJsonProblem(value: unknown, name: string): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : `${name} is ${String(value)}`;
    case 'object':
      return objectProblem(value, name);
    default:
      return `${name} is a ${typeof value}`;
  }
}

function objectProblem(value: object | null, name: string): string | undefined {
  if (value === null) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) {
    return `${name} is an instance of ${value.constructor.name}`;
  }
  for (const [key, member] of Object.entries(value)) {
    const problem = plainJsonProblem(member, `${name}.${key}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
