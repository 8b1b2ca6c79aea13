// The files that are part of the program. SwiftPM's own way, an array literal of numbers in Swift, takes the compiler
// longer than the modules that use it; `#embed` takes hundredths of a second.
//
// A new file is an array and a line of the table, in the order of the names; a test compares the table with the folders.

#include "CEmbedded.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char conduct_first_reply_tsv[] = {
#embed "../../Sources/Conduct/Resources/first-reply.tsv"
};
static const unsigned char conduct_fitness_tsv[] = {
#embed "../../Sources/Conduct/Resources/fitness.tsv"
};
static const unsigned char conduct_replies_txt[] = {
#embed "../../Sources/Conduct/Resources/replies.txt"
};
static const unsigned char conduct_server_rules_tsv[] = {
#embed "../../Sources/Conduct/Resources/server-rules.tsv"
};
static const unsigned char conduct_stop_txt[] = {
#embed "../../Sources/Conduct/Resources/stop.txt"
};
static const unsigned char posts_html_tsv[] = {
#embed "../../Sources/Posts/Resources/html.tsv"
};
static const unsigned char sandbox_mentions_en_txt[] = {
#embed "../../Sources/Sandbox/Resources/mentions.en.txt"
};
static const unsigned char sandbox_mentions_ja_txt[] = {
#embed "../../Sources/Sandbox/Resources/mentions.ja.txt"
};
static const unsigned char sandbox_own_en_txt[] = {
#embed "../../Sources/Sandbox/Resources/own.en.txt"
};
static const unsigned char sandbox_own_ja_txt[] = {
#embed "../../Sources/Sandbox/Resources/own.ja.txt"
};
static const unsigned char sandbox_replies_en_txt[] = {
#embed "../../Sources/Sandbox/Resources/replies.en.txt"
};
static const unsigned char sandbox_replies_ja_txt[] = {
#embed "../../Sources/Sandbox/Resources/replies.ja.txt"
};
static const unsigned char sandbox_topics_en_txt[] = {
#embed "../../Sources/Sandbox/Resources/topics.en.txt"
};
static const unsigned char sandbox_topics_ja_txt[] = {
#embed "../../Sources/Sandbox/Resources/topics.ja.txt"
};
static const unsigned char web_app_webmanifest[] = {
#embed "../../Sources/Web/Resources/app.webmanifest"
};
static const unsigned char web_icon_svg[] = {
#embed "../../Sources/Web/Resources/icon.svg"
};
static const unsigned char web_live_js[] = {
#embed "../../Sources/Web/Resources/live.js"
};
static const unsigned char web_style_css[] = {
#embed "../../Sources/Web/Resources/style.css"
};
static const unsigned char web_upload_js[] = {
#embed "../../Sources/Web/Resources/upload.js"
};
static const unsigned char web_templates_action_mustache[] = {
#embed "../../Sources/Web/Resources/templates/action.mustache"
};
static const unsigned char web_templates_actions_mustache[] = {
#embed "../../Sources/Web/Resources/templates/actions.mustache"
};
static const unsigned char web_templates_band_mustache[] = {
#embed "../../Sources/Web/Resources/templates/band.mustache"
};
static const unsigned char web_templates_coming_back_mustache[] = {
#embed "../../Sources/Web/Resources/templates/coming-back.mustache"
};
static const unsigned char web_templates_confirm_mustache[] = {
#embed "../../Sources/Web/Resources/templates/confirm.mustache"
};
static const unsigned char web_templates_dial_mustache[] = {
#embed "../../Sources/Web/Resources/templates/dial.mustache"
};
static const unsigned char web_templates_emblem_mustache[] = {
#embed "../../Sources/Web/Resources/templates/emblem.mustache"
};
static const unsigned char web_templates_favorites_mustache[] = {
#embed "../../Sources/Web/Resources/templates/favorites.mustache"
};
static const unsigned char web_templates_file_mustache[] = {
#embed "../../Sources/Web/Resources/templates/file.mustache"
};
static const unsigned char web_templates_frame_mustache[] = {
#embed "../../Sources/Web/Resources/templates/frame.mustache"
};
static const unsigned char web_templates_head_mustache[] = {
#embed "../../Sources/Web/Resources/templates/head.mustache"
};
static const unsigned char web_templates_health_mustache[] = {
#embed "../../Sources/Web/Resources/templates/health.mustache"
};
static const unsigned char web_templates_hours_picture_mustache[] = {
#embed "../../Sources/Web/Resources/templates/hours-picture.mustache"
};
static const unsigned char web_templates_hours_mustache[] = {
#embed "../../Sources/Web/Resources/templates/hours.mustache"
};
static const unsigned char web_templates_index_mustache[] = {
#embed "../../Sources/Web/Resources/templates/index.mustache"
};
static const unsigned char web_templates_login_mustache[] = {
#embed "../../Sources/Web/Resources/templates/login.mustache"
};
static const unsigned char web_templates_one_slot_mustache[] = {
#embed "../../Sources/Web/Resources/templates/one-slot.mustache"
};
static const unsigned char web_templates_people_mustache[] = {
#embed "../../Sources/Web/Resources/templates/people.mustache"
};
static const unsigned char web_templates_person_file_mustache[] = {
#embed "../../Sources/Web/Resources/templates/person-file.mustache"
};
static const unsigned char web_templates_person_mustache[] = {
#embed "../../Sources/Web/Resources/templates/person.mustache"
};
static const unsigned char web_templates_plain_mustache[] = {
#embed "../../Sources/Web/Resources/templates/plain.mustache"
};
static const unsigned char web_templates_problem_mustache[] = {
#embed "../../Sources/Web/Resources/templates/problem.mustache"
};
static const unsigned char web_templates_public_mustache[] = {
#embed "../../Sources/Web/Resources/templates/public.mustache"
};
static const unsigned char web_templates_quoted_mustache[] = {
#embed "../../Sources/Web/Resources/templates/quoted.mustache"
};
static const unsigned char web_templates_rehearsal_mustache[] = {
#embed "../../Sources/Web/Resources/templates/rehearsal.mustache"
};
static const unsigned char web_templates_report_mustache[] = {
#embed "../../Sources/Web/Resources/templates/report.mustache"
};
static const unsigned char web_templates_settings_mustache[] = {
#embed "../../Sources/Web/Resources/templates/settings.mustache"
};
static const unsigned char web_templates_setup_mustache[] = {
#embed "../../Sources/Web/Resources/templates/setup.mustache"
};
static const unsigned char web_templates_slot_mustache[] = {
#embed "../../Sources/Web/Resources/templates/slot.mustache"
};
static const unsigned char web_templates_steps_mustache[] = {
#embed "../../Sources/Web/Resources/templates/steps.mustache"
};
static const unsigned char web_templates_symbols_mustache[] = {
#embed "../../Sources/Web/Resources/templates/symbols.mustache"
};
static const unsigned char web_templates_texts_mustache[] = {
#embed "../../Sources/Web/Resources/templates/texts.mustache"
};
static const unsigned char web_templates_today_mustache[] = {
#embed "../../Sources/Web/Resources/templates/today.mustache"
};
static const unsigned char web_templates_waiting_mustache[] = {
#embed "../../Sources/Web/Resources/templates/waiting.mustache"
};
static const unsigned char web_templates_week_mustache[] = {
#embed "../../Sources/Web/Resources/templates/week.mustache"
};
static const unsigned char web_templates_words_mustache[] = {
#embed "../../Sources/Web/Resources/templates/words.mustache"
};
static const unsigned char migrations_0001_tables_sql[] = {
#embed "../../migrations/0001_tables.sql"
};
static const unsigned char migrations_0002_deliveries_sql[] = {
#embed "../../migrations/0002_deliveries.sql"
};
static const unsigned char migrations_0003_server_time_sql[] = {
#embed "../../migrations/0003_server_time.sql"
};
static const unsigned char migrations_0004_hearing_sql[] = {
#embed "../../migrations/0004_hearing.sql"
};
static const unsigned char migrations_0005_history_sql[] = {
#embed "../../migrations/0005_history.sql"
};
static const unsigned char migrations_0006_accounts_sql[] = {
#embed "../../migrations/0006_accounts.sql"
};
static const unsigned char migrations_0007_spending_sql[] = {
#embed "../../migrations/0007_spending.sql"
};
static const unsigned char migrations_0008_posts_sql[] = {
#embed "../../migrations/0008_posts.sql"
};
static const unsigned char migrations_0009_archive_zone_sql[] = {
#embed "../../migrations/0009_archive_zone.sql"
};
static const unsigned char migrations_0010_actions_sql[] = {
#embed "../../migrations/0010_actions.sql"
};
static const unsigned char migrations_0011_moves_sql[] = {
#embed "../../migrations/0011_moves.sql"
};
static const unsigned char migrations_0012_steering_sql[] = {
#embed "../../migrations/0012_steering.sql"
};
static const unsigned char migrations_0013_undo_sql[] = {
#embed "../../migrations/0013_undo.sql"
};
static const unsigned char migrations_0014_forgetting_sql[] = {
#embed "../../migrations/0014_forgetting.sql"
};
static const unsigned char migrations_0015_notices_sql[] = {
#embed "../../migrations/0015_notices.sql"
};
static const unsigned char migrations_0016_following_sql[] = {
#embed "../../migrations/0016_following.sql"
};
static const unsigned char migrations_0017_fitness_sql[] = {
#embed "../../migrations/0017_fitness.sql"
};
static const unsigned char migrations_0018_weights_sql[] = {
#embed "../../migrations/0018_weights.sql"
};
static const unsigned char migrations_0019_zones_sql[] = {
#embed "../../migrations/0019_zones.sql"
};
static const unsigned char migrations_0020_media_sql[] = {
#embed "../../migrations/0020_media.sql"
};
static const unsigned char migrations_0021_threads_sql[] = {
#embed "../../migrations/0021_threads.sql"
};
static const unsigned char migrations_0022_people_sql[] = {
#embed "../../migrations/0022_people.sql"
};
static const unsigned char migrations_0023_last_word_sql[] = {
#embed "../../migrations/0023_last_word.sql"
};
static const unsigned char migrations_0024_probes_sql[] = {
#embed "../../migrations/0024_probes.sql"
};
static const unsigned char migrations_0025_accounts_sql[] = {
#embed "../../migrations/0025_accounts.sql"
};
static const unsigned char migrations_0026_quotes_sql[] = {
#embed "../../migrations/0026_quotes.sql"
};
static const unsigned char migrations_0027_pairs_sql[] = {
#embed "../../migrations/0027_pairs.sql"
};
static const unsigned char migrations_0028_health_sql[] = {
#embed "../../migrations/0028_health.sql"
};
static const unsigned char migrations_0029_link_words_sql[] = {
#embed "../../migrations/0029_link_words.sql"
};
static const unsigned char migrations_0030_suggestions_sql[] = {
#embed "../../migrations/0030_suggestions.sql"
};
static const unsigned char migrations_0031_stretches_sql[] = {
#embed "../../migrations/0031_stretches.sql"
};
static const unsigned char migrations_0032_guessed_zones_sql[] = {
#embed "../../migrations/0032_guessed_zones.sql"
};
static const unsigned char migrations_0033_profile_sql[] = {
#embed "../../migrations/0033_profile.sql"
};
static const unsigned char migrations_0034_workers_sql[] = {
#embed "../../migrations/0034_workers.sql"
};
static const unsigned char migrations_0035_text_counts_sql[] = {
#embed "../../migrations/0035_text_counts.sql"
};
static const unsigned char migrations_0036_told_sql[] = {
#embed "../../migrations/0036_told.sql"
};
static const unsigned char migrations_0037_measures_sql[] = {
#embed "../../migrations/0037_measures.sql"
};
static const unsigned char migrations_0038_proofs_sql[] = {
#embed "../../migrations/0038_proofs.sql"
};
static const unsigned char migrations_0039_page_indexes_sql[] = {
#embed "../../migrations/0039_page_indexes.sql"
};
static const unsigned char migrations_0040_departures_sql[] = {
#embed "../../migrations/0040_departures.sql"
};
static const unsigned char migrations_0041_effects_sql[] = {
#embed "../../migrations/0041_effects.sql"
};
static const unsigned char migrations_0042_ended_sessions_sql[] = {
#embed "../../migrations/0042_ended_sessions.sql"
};
static const unsigned char migrations_0043_revisions_sql[] = {
#embed "../../migrations/0043_revisions.sql"
};
static const unsigned char migrations_0046_waits_sql[] = {
#embed "../../migrations/0046_waits.sql"
};
static const unsigned char migrations_0047_reply_measure_sql[] = {
#embed "../../migrations/0047_reply_measure.sql"
};
static const unsigned char migrations_0048_unable_workers_sql[] = {
#embed "../../migrations/0048_unable_workers.sql"
};
static const unsigned char migrations_0049_spelling_sql[] = {
#embed "../../migrations/0049_spelling.sql"
};
static const unsigned char migrations_0050_consent_sql[] = {
#embed "../../migrations/0050_consent.sql"
};
static const unsigned char migrations_0051_text_labels_sql[] = {
#embed "../../migrations/0051_text_labels.sql"
};
static const unsigned char migrations_0052_retirement_sql[] = {
#embed "../../migrations/0052_retirement.sql"
};
static const unsigned char migrations_0054_server_rules_sql[] = {
#embed "../../migrations/0054_server_rules.sql"
};
static const unsigned char migrations_0055_first_replies_sql[] = {
#embed "../../migrations/0055_first_replies.sql"
};
static const unsigned char migrations_0056_standing_sql[] = {
#embed "../../migrations/0056_standing.sql"
};

#define FILE(name, bytes) {name, bytes, sizeof bytes}

static const EmbeddedFile files[] = {
    FILE("Conduct/first-reply.tsv", conduct_first_reply_tsv),
    FILE("Conduct/fitness.tsv", conduct_fitness_tsv),
    FILE("Conduct/replies.txt", conduct_replies_txt),
    FILE("Conduct/server-rules.tsv", conduct_server_rules_tsv),
    FILE("Conduct/stop.txt", conduct_stop_txt),
    FILE("Posts/html.tsv", posts_html_tsv),
    FILE("Sandbox/mentions.en.txt", sandbox_mentions_en_txt),
    FILE("Sandbox/mentions.ja.txt", sandbox_mentions_ja_txt),
    FILE("Sandbox/own.en.txt", sandbox_own_en_txt),
    FILE("Sandbox/own.ja.txt", sandbox_own_ja_txt),
    FILE("Sandbox/replies.en.txt", sandbox_replies_en_txt),
    FILE("Sandbox/replies.ja.txt", sandbox_replies_ja_txt),
    FILE("Sandbox/topics.en.txt", sandbox_topics_en_txt),
    FILE("Sandbox/topics.ja.txt", sandbox_topics_ja_txt),
    FILE("Web/app.webmanifest", web_app_webmanifest),
    FILE("Web/icon.svg", web_icon_svg),
    FILE("Web/live.js", web_live_js),
    FILE("Web/upload.js", web_upload_js),
    FILE("Web/style.css", web_style_css),
    FILE("Web/templates/action.mustache", web_templates_action_mustache),
    FILE("Web/templates/actions.mustache", web_templates_actions_mustache),
    FILE("Web/templates/band.mustache", web_templates_band_mustache),
    FILE("Web/templates/coming-back.mustache", web_templates_coming_back_mustache),
    FILE("Web/templates/confirm.mustache", web_templates_confirm_mustache),
    FILE("Web/templates/dial.mustache", web_templates_dial_mustache),
    FILE("Web/templates/emblem.mustache", web_templates_emblem_mustache),
    FILE("Web/templates/favorites.mustache", web_templates_favorites_mustache),
    FILE("Web/templates/file.mustache", web_templates_file_mustache),
    FILE("Web/templates/frame.mustache", web_templates_frame_mustache),
    FILE("Web/templates/head.mustache", web_templates_head_mustache),
    FILE("Web/templates/health.mustache", web_templates_health_mustache),
    FILE("Web/templates/hours-picture.mustache", web_templates_hours_picture_mustache),
    FILE("Web/templates/hours.mustache", web_templates_hours_mustache),
    FILE("Web/templates/index.mustache", web_templates_index_mustache),
    FILE("Web/templates/login.mustache", web_templates_login_mustache),
    FILE("Web/templates/one-slot.mustache", web_templates_one_slot_mustache),
    FILE("Web/templates/people.mustache", web_templates_people_mustache),
    FILE("Web/templates/person-file.mustache", web_templates_person_file_mustache),
    FILE("Web/templates/person.mustache", web_templates_person_mustache),
    FILE("Web/templates/plain.mustache", web_templates_plain_mustache),
    FILE("Web/templates/problem.mustache", web_templates_problem_mustache),
    FILE("Web/templates/public.mustache", web_templates_public_mustache),
    FILE("Web/templates/quoted.mustache", web_templates_quoted_mustache),
    FILE("Web/templates/rehearsal.mustache", web_templates_rehearsal_mustache),
    FILE("Web/templates/report.mustache", web_templates_report_mustache),
    FILE("Web/templates/settings.mustache", web_templates_settings_mustache),
    FILE("Web/templates/setup.mustache", web_templates_setup_mustache),
    FILE("Web/templates/slot.mustache", web_templates_slot_mustache),
    FILE("Web/templates/steps.mustache", web_templates_steps_mustache),
    FILE("Web/templates/symbols.mustache", web_templates_symbols_mustache),
    FILE("Web/templates/texts.mustache", web_templates_texts_mustache),
    FILE("Web/templates/today.mustache", web_templates_today_mustache),
    FILE("Web/templates/waiting.mustache", web_templates_waiting_mustache),
    FILE("Web/templates/week.mustache", web_templates_week_mustache),
    FILE("Web/templates/words.mustache", web_templates_words_mustache),
    FILE("migrations/0001_tables.sql", migrations_0001_tables_sql),
    FILE("migrations/0002_deliveries.sql", migrations_0002_deliveries_sql),
    FILE("migrations/0003_server_time.sql", migrations_0003_server_time_sql),
    FILE("migrations/0004_hearing.sql", migrations_0004_hearing_sql),
    FILE("migrations/0005_history.sql", migrations_0005_history_sql),
    FILE("migrations/0006_accounts.sql", migrations_0006_accounts_sql),
    FILE("migrations/0007_spending.sql", migrations_0007_spending_sql),
    FILE("migrations/0008_posts.sql", migrations_0008_posts_sql),
    FILE("migrations/0009_archive_zone.sql", migrations_0009_archive_zone_sql),
    FILE("migrations/0010_actions.sql", migrations_0010_actions_sql),
    FILE("migrations/0011_moves.sql", migrations_0011_moves_sql),
    FILE("migrations/0012_steering.sql", migrations_0012_steering_sql),
    FILE("migrations/0013_undo.sql", migrations_0013_undo_sql),
    FILE("migrations/0014_forgetting.sql", migrations_0014_forgetting_sql),
    FILE("migrations/0015_notices.sql", migrations_0015_notices_sql),
    FILE("migrations/0016_following.sql", migrations_0016_following_sql),
    FILE("migrations/0017_fitness.sql", migrations_0017_fitness_sql),
    FILE("migrations/0018_weights.sql", migrations_0018_weights_sql),
    FILE("migrations/0019_zones.sql", migrations_0019_zones_sql),
    FILE("migrations/0020_media.sql", migrations_0020_media_sql),
    FILE("migrations/0021_threads.sql", migrations_0021_threads_sql),
    FILE("migrations/0022_people.sql", migrations_0022_people_sql),
    FILE("migrations/0023_last_word.sql", migrations_0023_last_word_sql),
    FILE("migrations/0024_probes.sql", migrations_0024_probes_sql),
    FILE("migrations/0025_accounts.sql", migrations_0025_accounts_sql),
    FILE("migrations/0026_quotes.sql", migrations_0026_quotes_sql),
    FILE("migrations/0027_pairs.sql", migrations_0027_pairs_sql),
    FILE("migrations/0028_health.sql", migrations_0028_health_sql),
    FILE("migrations/0029_link_words.sql", migrations_0029_link_words_sql),
    FILE("migrations/0030_suggestions.sql", migrations_0030_suggestions_sql),
    FILE("migrations/0031_stretches.sql", migrations_0031_stretches_sql),
    FILE("migrations/0032_guessed_zones.sql", migrations_0032_guessed_zones_sql),
    FILE("migrations/0033_profile.sql", migrations_0033_profile_sql),
    FILE("migrations/0034_workers.sql", migrations_0034_workers_sql),
    FILE("migrations/0035_text_counts.sql", migrations_0035_text_counts_sql),
    FILE("migrations/0036_told.sql", migrations_0036_told_sql),
    FILE("migrations/0037_measures.sql", migrations_0037_measures_sql),
    FILE("migrations/0038_proofs.sql", migrations_0038_proofs_sql),
    FILE("migrations/0039_page_indexes.sql", migrations_0039_page_indexes_sql),
    FILE("migrations/0040_departures.sql", migrations_0040_departures_sql),
    FILE("migrations/0041_effects.sql", migrations_0041_effects_sql),
    FILE("migrations/0042_ended_sessions.sql", migrations_0042_ended_sessions_sql),
    FILE("migrations/0043_revisions.sql", migrations_0043_revisions_sql),
    FILE("migrations/0046_waits.sql", migrations_0046_waits_sql),
    FILE("migrations/0047_reply_measure.sql", migrations_0047_reply_measure_sql),
    FILE("migrations/0048_unable_workers.sql", migrations_0048_unable_workers_sql),
    FILE("migrations/0049_spelling.sql", migrations_0049_spelling_sql),
    FILE("migrations/0050_consent.sql", migrations_0050_consent_sql),
    FILE("migrations/0051_text_labels.sql", migrations_0051_text_labels_sql),
    FILE("migrations/0052_retirement.sql", migrations_0052_retirement_sql),
    FILE("migrations/0054_server_rules.sql", migrations_0054_server_rules_sql),
    FILE("migrations/0055_first_replies.sql", migrations_0055_first_replies_sql),
    FILE("migrations/0056_standing.sql", migrations_0056_standing_sql),
};

const EmbeddedFile *const embedded_files = files;
const size_t embedded_count = sizeof files / sizeof files[0];
