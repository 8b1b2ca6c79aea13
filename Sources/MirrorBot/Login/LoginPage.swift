import Foundation
import Localization
import Mirroring
import Settings

/// A page on which the owner of an account authorizes mirror-bot.
struct LoginPage {
    let address: String
    let role: AccountRole

    /// Prints the address, and opens it if there is a browser.
    ///
    /// - Parameter task: The person's task there, in the imperative.
    func show(_ task: String) {
        let isOpen = Browser(Console.current)?.open(address) ?? false
        let sentence =
            isOpen
            ? localized(
                "Your browser opens this address. Be logged in there as \(role.words), \(task):")
            : localized(
                "Open this address in a browser that is logged in as \(role.words), \(task):")
        StandardError.tell(sentence)
        // The address is on one line, so that it can be copied.
        StandardError.write("  \(Printable.line(address))\n")
    }
}
