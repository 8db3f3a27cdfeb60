/** What is worth remembering as long as there is room: a map that forgets its oldest entry when it is full. */

export function remember<Key, Value>(
  map: Map<Key, Value>,
  key: Key,
  value: Value,
  entriesMax: number,
): void {
  if (!map.has(key) && map.size >= entriesMax)
    for (const oldest of map.keys()) {
      map.delete(oldest)
      break
    }
  map.set(key, value)
}
