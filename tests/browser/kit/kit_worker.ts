/**
 * The worker of the kit's own tests: doubles numbers.
 *
 * @module
 */

const scope = globalThis as unknown as {
  onmessage: (event: MessageEvent<number>) => void;
  postMessage(value: number): void;
};
scope.onmessage = ({ data }) => scope.postMessage(2 * data);
