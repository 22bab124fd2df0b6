/** The licence that a package's manifest names, in the old form too; undefined when it names none. */
export function licenceOf({license, licenses}) {
  return license ?? licenses?.map(({type}) => type).join(' or ');
}
