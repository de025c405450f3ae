import Foundation

/// The path of a program built beside the tests, whose target depends on it.
package func builtProgram(_ name: String) -> String {
  // The test bundle, or the runner inside it, lies in the folder of the products.
  var folder = Bundle.main.bundleURL
  while folder.path != "/", !FileManager.default.isExecutableFile(atPath: folder.appending(path: name).path) {
    folder.deleteLastPathComponent()
  }
  return folder.appending(path: name).path
}
