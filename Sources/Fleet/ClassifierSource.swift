import Control
import Favorites
import Foundation
import Logging
import MeCab
import Mirroring

/// Opens the classifier, and retries as long as its dictionary cannot be opened.
///
/// An opened dictionary stays usable after its files are removed.
actor ClassifierSource {
    private let open: @Sendable () throws -> Favorites
    private let logger: Logger
    private var favorites: Favorites?
    private var isMissing = false

    /// - Parameters:
    ///   - logger: Logs when the dictionary is missing, and when it is back.
    init(logger: Logger, open: @escaping @Sendable () throws -> Favorites) {
        self.logger = logger
        self.open = open
    }

    /// The classifier; nil while it has no dictionary.
    ///
    /// - Throws: An error that a retry cannot fix, such as one of the configuration.
    func classifier() throws -> Favorites? {
        if let favorites { return favorites }
        do {
            favorites = try open()
        } catch let error as MeCabError {
            if !isMissing {
                logger.warning(
                    "Favorites and learning pause until the dictionary can be opened",
                    metadata: [LogKeys.error: "\(error)"])
            }
            isMissing = true
            return nil
        }
        if isMissing { logger.notice("Favorites and learning go on") }
        isMissing = false
        return favorites
    }
}
