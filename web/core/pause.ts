/** Gives the thread back for a moment. */

/** Lets whatever waits for this thread go first; timers would be slowed down. */
export function pause(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
