/** XPath 3.1 over a DOM (door to fontoxpath). Runs in the parser thread only: its time limit is the last defence. */
import fontoxpath from 'fontoxpath'

// Node finds no names in this CommonJS package.
// oxlint-disable-next-line import/no-named-as-default-member
const { evaluateXPath } = fontoxpath

/** What a path leads to: nodes, and values as texts; in document order. @throws what the expression does */
export function evaluate(expression: string, context: Node): (Node | string)[] {
  const namespace = (context as Element).namespaceURI ?? documentNamespace(context)
  const results = evaluateXPath(
    expression,
    context,
    null,
    null,
    evaluateXPath.ALL_RESULTS_TYPE,
    // Names without a prefix mean the elements of the page, whatever namespace the DOM gives them.
    { namespaceResolver: (prefix: string) => (prefix === '' ? namespace : null) },
  ) as unknown[]
  return results.map((result) =>
    typeof result === 'object' && result !== null && 'nodeType' in result
      ? (result as Node)
      : String(result),
  )
}

const documentNamespace = (node: Node): string | null =>
  (node as Document).documentElement?.namespaceURI ?? null
