// The site's search runs in a Worker, which browsers refuse to pages that were opened from the disk.
// There a hidden frame takes its place: it loads the same script and gets the same messages.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.documentElement.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", {data}));
      inside.importScripts = (...urls) => Promise.all(urls.map((next) => this.load(next)));
      this.load(url).then(() => {
        const waiting = this.waiting;
        this.waiting = null;
        for (const data of waiting) this.postMessage(data);
      });
    }
    load(url) {
      return new Promise((loaded, failed) => {
        const inside = this.frame.contentDocument;
        const script = inside.createElement("script");
        script.src = url;
        script.onload = loaded;
        script.onerror = failed;
        inside.documentElement.append(script);
      });
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.frame.contentWindow.dispatchEvent(new MessageEvent("message", {data}));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
